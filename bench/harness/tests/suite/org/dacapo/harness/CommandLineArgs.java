package org.dacapo.harness;

/** What DaCapo's harness hands to a callback. */
public class CommandLineArgs {}
