//! The command line, as far as the public program has the same.

pub struct Options {
    /// Where Envoy asks.
    pub rls: String,
    /// Where Kubernetes asks whether it is up.
    pub http: String,
    /// `X-RateLimit-*` on every answer.
    pub headers: bool,
    pub limits: String,
    pub redis: String,
}

const USAGE: &str = "limitador-server [--rls-ip IP] [--rls-port PORT] [--http-ip IP] [--http-port PORT] \
    [--rate-limit-headers NONE|DRAFT_VERSION_03] LIMITS_FILE redis URL";

impl Options {
    pub fn of(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let [mut rls_ip, mut rls_port] = ["0.0.0.0".to_owned(), "8081".to_owned()];
        let [mut http_ip, mut http_port] = ["0.0.0.0".to_owned(), "8080".to_owned()];
        let (mut headers, mut rest, mut arguments) = ("NONE".to_owned(), Vec::new(), arguments);
        while let Some(argument) = arguments.next() {
            let place = match argument.as_str() {
                "--rls-ip" => &mut rls_ip,
                "--rls-port" => &mut rls_port,
                "--http-ip" => &mut http_ip,
                "--http-port" => &mut http_port,
                "--rate-limit-headers" => &mut headers,
                option if option.starts_with('-') => return Err(format!("{option} is not known; {USAGE}")),
                _ => {
                    rest.push(argument);
                    continue;
                }
            };
            *place = arguments.next().ok_or(USAGE)?;
        }
        let headers = match headers.as_str() {
            "NONE" => false,
            "DRAFT_VERSION_03" => true,
            other => return Err(format!("--rate-limit-headers {other} is not known; {USAGE}")),
        };
        let [limits, storage, redis] = <[String; 3]>::try_from(rest).map_err(|_| USAGE)?;
        if storage != "redis" {
            return Err(format!("the storage {storage} is not built in; {USAGE}"));
        }
        let (rls, http) = (format!("{rls_ip}:{rls_port}"), format!("{http_ip}:{http_port}"));
        Ok(Self { rls, http, headers, limits, redis })
    }
}
