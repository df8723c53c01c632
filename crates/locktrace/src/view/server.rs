//! The server of the viewer's page: for one user of this machine, and nobody else.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use clap::Args;
use futures_util::stream::{self, Stream};
use tokio::net::TcpListener;
use tokio::sync::watch;
use trace_report::facts;

use crate::files::paths;
use crate::outcome::{self, Outcome};
use crate::output;
use crate::view::answer::{AnswerError, Question};
use crate::view::answer_cache::AnswerCache;
use crate::view::export::{self, Extent};
use crate::view::loader::Loader;
use crate::view::model_thread::{self, AskError, Asker};
use crate::view::progress::Progress;
use crate::view::source::{SourceFolder, SourceQuestion};
use crate::view::topic::Topic;

const MAX_QUESTION_BYTES: usize = 1 << 20;
const PROGRESS_PERIOD: Duration = Duration::from_millis(200);

/// What to serve, and where.
#[derive(Args, Debug)]
pub(crate) struct ServerArguments {
    /// Show source code from this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,

    /// Port on 127.0.0.1; 0 for any free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,

    /// Only print the address
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// What handlers need.
#[derive(Clone)]
struct App {
    asker: Asker,
    progress: watch::Receiver<Progress>,
    answers: AnswerCache,
    source: Option<SourceFolder>,
    /// What a browser that was given the address says in `Host`.
    hosts: Arc<[String; 2]>,
}

/// Serves the page until the process is ended, or a trace cannot be read.
///
/// # Errors
///
/// If the port or the folder with sources is not available, or a trace cannot be read.
pub(crate) fn serve(mut loader: Loader, arguments: &ServerArguments) -> outcome::Result<Outcome> {
    let source = match &arguments.source {
        Some(path) => {
            let folder = SourceFolder::open(path);
            Some(folder.map_err(|error| paths::named(path, &error))?)
        }
        None => None,
    };
    loader.has_source(source.is_some());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port));
        let listener = TcpListener::bind(address).await;
        let listener = listener
            .map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
        let port = listener.local_addr()?.port();
        let token = token()?;
        let url = format!("http://127.0.0.1:{port}/{token}/");
        let model = model_thread::start(loader);
        let app = App {
            asker: model.asker,
            progress: model.progress,
            answers: AnswerCache::default(),
            source,
            hosts: Arc::new([format!("127.0.0.1:{port}"), format!("localhost:{port}")]),
        };
        let server = axum::serve(listener, router(app, &token));
        announce(&url)?;
        if !arguments.no_open {
            open_in_browser(&url);
        }
        tokio::select! {
            served = server => served?,
            Ok(failure) = model.failure => return Err(failure.into()),
        }
        Ok(Outcome::Complete)
    })
}

/// 128 random bits.
fn token() -> outcome::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::from)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn announce(url: &str) -> std::io::Result<()> {
    let mut text = String::new();
    facts::add(&mut text, "Viewer", url);
    facts::add(&mut text, "End", "Ctrl+C");
    output::print(&text)
}

/// Without a desktop, the address on standard output is enough.
fn open_in_browser(url: &str) {
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    if !has_desktop {
        return;
    }
    let browser = Command::new("xdg-open")
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = browser {
        output::complain(&format_args!(
            "xdg-open: {error}; open the address yourself"
        ));
    }
}

fn router(app: App, token: &str) -> Router {
    let asset = |kind: &'static str, text: &'static str| {
        get(move || async move { ([(header::CONTENT_TYPE, kind)], text) })
    };
    let below = |path: &str| format!("/{token}/{path}");
    Router::new()
        .route(&below(""), asset("text/html; charset=utf-8", export::HTML))
        .route(
            &below("viewer.js"),
            asset("text/javascript; charset=utf-8", export::SCRIPT),
        )
        .route(
            &below("viewer.css"),
            asset("text/css; charset=utf-8", export::STYLE),
        )
        .route(&below("export.html"), get(exported))
        .route(
            &below("api/model"),
            get(|state| ask(state, Topic::Model, Bytes::new())),
        )
        .route(&below("api/progress"), get(progress))
        .route(&below("api/query"), asked(Topic::Query))
        .route(&below("api/histogram"), asked(Topic::Histogram))
        .route(&below("api/waits"), asked(Topic::Waits))
        .route(&below("api/lanes"), asked(Topic::Lanes))
        .route(&below("api/wait/{id}"), get(wait))
        .route(&below("api/source"), get(source))
        .fallback(|| async { failure(StatusCode::NOT_FOUND, "there is nothing here") })
        .layer(DefaultBodyLimit::max(MAX_QUESTION_BYTES))
        .layer(middleware::from_fn_with_state(app.clone(), guard))
        .with_state(app)
}

/// Lets no other page in, whatever its name resolves to, and tells the browser what this
/// one may do.
async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = if is_from_here(&app, request.uri(), request.headers()) {
        next.run(request).await
    } else {
        failure(StatusCode::FORBIDDEN, "wrong Host or Origin")
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The address is the key.
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(
        "cross-origin-resource-policy",
        HeaderValue::from_static("same-origin"),
    );
    headers.insert(
        "cross-origin-opener-policy",
        HeaderValue::from_static("same-origin"),
    );
    response
}

fn is_from_here(app: &App, uri: &Uri, headers: &HeaderMap) -> bool {
    let is_host = |host: &str| app.hosts.iter().any(|known| known == host);
    let mut hosts = headers.get_all(header::HOST).iter();
    let has_host = matches!(
        (hosts.next().map(HeaderValue::to_str), hosts.next()),
        (Some(Ok(host)), None) if is_host(host)
    );
    let has_authority = uri
        .authority()
        .is_none_or(|authority| is_host(authority.as_str()));
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_origin = |origin: &HeaderValue| {
        let origin = origin.to_str().ok();
        origin
            .and_then(|origin| origin.strip_prefix("http://"))
            .is_some_and(is_host)
    };
    has_host && has_authority && origins.all(is_origin)
}

fn asked(topic: Topic) -> axum::routing::MethodRouter<App> {
    post(move |state, body| ask(state, topic, body))
}

async fn ask(State(app): State<App>, topic: Topic, body: Bytes) -> Response {
    if let Some(answer) = app.answers.get(topic, &body) {
        return json(answer);
    }
    // What is asked from then on is about all that there is.
    let stays_true = app.progress.borrow().done;
    let question = std::str::from_utf8(&body).map_err(|_| "not UTF-8".to_owned());
    let question =
        question.and_then(|text| Question::parse(topic, text).map_err(|error| error.to_string()));
    match question {
        Ok(question) => match app.asker.ask(question).await.map(Bytes::from) {
            Ok(answer) => {
                if stays_true {
                    app.answers.keep(topic, body, answer.clone());
                }
                json(answer)
            }
            Err(error) => respond(Err(error)),
        },
        Err(message) => failure(StatusCode::BAD_REQUEST, &message),
    }
}

async fn wait(State(app): State<App>, Path(id): Path<u64>) -> Response {
    respond(app.asker.ask(Question::Wait(id)).await)
}

async fn source(State(app): State<App>, Query(question): Query<SourceQuestion>) -> Response {
    let folder = app.source.as_ref();
    match folder.and_then(|folder| folder.lines(&question)) {
        Some(lines) => respond(
            serde_json::to_string(&lines)
                .map_err(|error| AskError::Answer(AnswerError::Malformed(error))),
        ),
        None => failure(StatusCode::NOT_FOUND, "there is no such source file"),
    }
}

async fn exported(State(app): State<App>) -> Response {
    let mut extent = Extent::FIRST;
    loop {
        let json = match app.asker.ask(Question::Embedded(extent.budget)).await {
            Ok(json) => json,
            Err(error) => return respond(Err(error)),
        };
        let page = tokio::task::spawn_blocking(move || export::with_model(&json, extent)).await;
        let Ok(Ok(page)) = page else {
            return failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the page could not be made",
            );
        };
        match extent.smaller(page.len()) {
            Some(smaller) => extent = smaller,
            None => {
                let disposition = "attachment; filename=\"locktrace.html\"";
                return (
                    [
                        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
                        (header::CONTENT_DISPOSITION, disposition),
                    ],
                    page,
                )
                    .into_response();
            }
        }
    }
}

async fn progress(State(app): State<App>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    // The state of now comes first, then each change.
    let mut first = app.progress.clone();
    first.mark_changed();
    Sse::new(stream::unfold(Some(first), next_progress))
}

async fn next_progress(
    receiver: Option<watch::Receiver<Progress>>,
) -> Option<(Result<Event, Infallible>, Option<watch::Receiver<Progress>>)> {
    let mut receiver = receiver?;
    receiver.changed().await.ok()?;
    let progress = *receiver.borrow_and_update();
    if !progress.done {
        tokio::time::sleep(PROGRESS_PERIOD).await;
    }
    let text = serde_json::to_string(&progress).ok()?;
    let rest = (!progress.done).then_some(receiver);
    Some((Ok(Event::default().data(text)), rest))
}

fn respond(answer: Result<String, AskError>) -> Response {
    match answer {
        Ok(answer) => json(answer.into()),
        Err(error) => {
            let status = match &error {
                AskError::Answer(AnswerError::NoSuchWait(_)) => StatusCode::NOT_FOUND,
                AskError::Answer(_) => StatusCode::BAD_REQUEST,
                AskError::Busy | AskError::Gone => StatusCode::SERVICE_UNAVAILABLE,
            };
            failure(status, &error.to_string())
        }
    }
}

fn json(text: Bytes) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}

fn failure(status: StatusCode, message: &str) -> Response {
    let body = serde_json::json!({ "error": message }).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
