#!/usr/bin/env bash
# Finds phrases that a native speaker would not write, in comments, messages and documents.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly ROOT

# A phrase, as a Perl pattern without regard to case, and what to write instead. A blank is also
# a line break, with what begins the next line of a comment.
export PHRASES='
so many                        a number with its name or unit, "this many"
that of                        repeat the noun, or use the genitive
told                           reported, known, given, notified
mend(s|ed|ing)?                fix
room for                       space for, capacity for; a test expects that it "fits"
what there is                  name the thing
(there )?(?-i:[Ii]s none)      "there is no ..." with the noun, "is not one", "is absent"
whoever                        anyone who, the thread that, the owner
tell(s|ing)? of                report, describe, mention
tell(s|ing)? ((it|them|these|those) )?apart      distinguish
lasted                         took; "duration" as a noun
because of whom                blamed on
or enough                      say how much
beside (each other|one another)     next to each other, side by side
beside (those|the others|others)    in addition to
(com(e|es|ing)|came|right|not used) behind    after
'

# What is not ours, or not written by hand. The history of versions stays as it was published.
readonly EXCLUDED=(
  ':!*.snap' ':!*.lock' ':!*package-lock.json' ':!*.svg'
  ':!LICENSE' ':!packaging/copyright' ':!CHANGELOG.md'
  ':!crates/locktrace/assets' ':!rust-tracer/include/locktrace.h'
  ':!test/same-output.txt' ':!fuzz/corpus'
  ':!scripts/check-wording.sh'
)

usage() {
  cat <<USAGE
Usage: scripts/check-wording.sh [PATH...]

Looks for phrases that are not good English in all tracked text files, or in those below PATH.
Of Rust, Java and C++ it reads comments and strings, of patches the header and the lines added,
of other files everything. Prints FILE:LINE: "phrase" (write instead): the line.

Options:
  -h, --help  this text

Exit codes: 0 nothing found, 1 a phrase was found, 2 wrong usage
USAGE
}

for argument; do
  case $argument in
    -h | --help) usage; exit ;;
    -*) usage >&2; exit 2 ;;
    *) [[ -e $argument ]] || { echo "check-wording: no file $argument" >&2; exit 2; } ;;
  esac
done
if (($# > 0)); then
  mapfile -t PATHS < <(realpath --relative-to="$ROOT" -- "$@")
else
  PATHS=(.)
fi
cd "$ROOT"

# shellcheck disable=SC2016 # $ is Perl's
PROGRAM='
  use strict;
  use warnings;
  my $next_line = qr{[ \t]*\n[ \t]*(?://[/!]?|\#+|\*|--|>|\\|\+)?[ \t]*};
  my @phrases;
  for (grep { /\S/ } split /\n/, $ENV{PHRASES}) {
    my ($pattern, $instead) = /^(\S.*?)\s{2,}(.*)$/ or die "no replacement: $_\n";
    $pattern =~ s/ /(?:[ \\t]+|$next_line)/g;
    push @phrases, [qr/\b(?:$pattern)\b/i, $instead];
  }
  # All but the line breaks of a text without prose.
  sub blank { (my $text = shift) =~ s/[^\n]/ /g; $text }
  my $prose = qr{
      //[^\n]* | /\*.*?\*/                          # comments
    | r(\#+)".*?"\g{-1} | "(?:\\.|[^"\\])*"         # strings
  }xs;
  my $found = 0;
  while (my $file = <STDIN>) {
    chomp $file;
    -f $file or next;
    open my $handle, "<", $file or die "$file: $!\n";
    local $/;
    my $text = <$handle> // "";
    local $/ = "\n";
    next if $text =~ /\0/;
    my @lines = split /\n/, $text;
    if ($file =~ /\.(?:rs|java|[ch]pp|[ch])$/) {
      $text =~ s{($prose)|\x27(?:\\.|[^\x27\\\n])\x27|[^/"r\x27]+|.}{defined $1 ? $1 : blank($&)}gse;
    } elsif ($file =~ /\.patch$/) {
      my ($header, $hunks) = $text =~ /^(.*?)(^--- .*|\z)/ms;
      $hunks =~ s/^(?!\+(?!\+\+ )).*$/blank($&)/gme;
      $text = $header . $hunks;
    }
    for (@phrases) {
      my ($pattern, $instead) = @$_;
      while ($text =~ /$pattern/g) {
        my $number = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
        (my $phrase = $&) =~ s/$next_line/ /g;
        (my $line = $lines[$number - 1]) =~ s/^\s+//;
        printf "%s:%d: \"%s\" (%s): %s\n", $file, $number, $phrase, $instead, $line;
        $found = 1;
      }
    }
  }
  exit $found;
'

list() {
  git -c core.quotePath=off ls-files -- "$@" | LC_ALL=C sort
}

# Not in one command: git 2.39 finds no file of a folder if wildcards are excluded.
LC_ALL=C comm -12 <(list . "${EXCLUDED[@]}") <(list "${PATHS[@]}") | perl -e "$PROGRAM"
