//! Which methods handle requests: by name, or by what frameworks call.

use wildmatch::WildMatch;

use crate::classfile::attributes::annotation_types;
use crate::classfile::class::{Class, Method};
use crate::classfile::decode;
use crate::filter::{FilterError, Pattern, is_jdk};

/// What the methods are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A method that was named, or that handles requests of one kind: requests go by its name.
    Handler,
    /// A servlet's own method: a handler inside of it gives its name.
    Servlet,
    /// A framework's entry, through which requests of all kinds come: what is inside of it gives its name.
    Entry,
}

/// Methods that handle requests.
#[derive(Clone, Debug, Default)]
pub struct RequestMethods {
    patterns: Vec<Pattern>,
    frameworks: Vec<&'static Framework>,
}

/// The methods that a framework calls for requests.
#[derive(Debug)]
struct Framework {
    name: &'static str,
    rules: &'static [Rule],
}

/// A rule by which a method is one of these. All parts have to hold.
#[derive(Debug)]
struct Rule {
    role: Role,
    /// Pattern over the class's internal name.
    class: &'static str,
    /// Pattern over the superclass's internal name.
    superclass: &'static str,
    /// The method's name, or a pattern.
    method: &'static str,
    /// Pattern over the descriptor.
    descriptor: &'static str,
    /// Patterns over the descriptors of annotations of which the method has one; empty: none is needed.
    annotations: &'static [&'static str],
}

const ANY: Rule = Rule {
    role: Role::Handler,
    class: "*",
    superclass: "*",
    method: "*",
    descriptor: "*",
    annotations: &[],
};

static SERVLET: Framework = Framework {
    name: "servlet",
    rules: &[
        Rule {
            role: Role::Entry,
            method: "service",
            descriptor: "(L*/servlet/ServletRequest;L*/servlet/ServletResponse;)V",
            ..ANY
        },
        Rule {
            role: Role::Servlet,
            method: "do*",
            descriptor: "(L*/servlet/http/HttpServletRequest;L*/servlet/http/HttpServletResponse;)V",
            ..ANY
        },
    ],
};
static SPRING: Framework = Framework {
    name: "spring",
    rules: &[Rule {
        annotations: &[
            "Lorg/springframework/web/bind/annotation/*Mapping;",
            "Lorg/springframework/messaging/handler/annotation/MessageMapping;",
        ],
        ..ANY
    }],
};
static JAX_RS: Framework = Framework {
    name: "jaxrs",
    rules: &[Rule {
        annotations: &[
            "L*/ws/rs/GET;",
            "L*/ws/rs/POST;",
            "L*/ws/rs/PUT;",
            "L*/ws/rs/DELETE;",
            "L*/ws/rs/PATCH;",
            "L*/ws/rs/HEAD;",
            "L*/ws/rs/OPTIONS;",
        ],
        ..ANY
    }],
};
static HTTP_SERVER: Framework = Framework {
    name: "httpserver",
    rules: &[
        // Also the body of a lambda.
        Rule {
            descriptor: "(*Lcom/sun/net/httpserver/HttpExchange;)V",
            ..ANY
        },
    ],
};
static GRPC: Framework = Framework {
    name: "grpc",
    rules: &[Rule {
        superclass: "*ImplBase",
        descriptor: "(*Lio/grpc/stub/StreamObserver;)*",
        ..ANY
    }],
};
static KAFKA: Framework = Framework {
    name: "kafka",
    rules: &[Rule {
        annotations: &["Lorg/springframework/kafka/annotation/KafkaListener;"],
        ..ANY
    }],
};

/// Requests are spans, which code begins and ends itself.
static SPANS: Framework = Framework {
    name: "spans",
    rules: &[],
};

/// All of them.
static FRAMEWORKS: [&Framework; 7] = [&SERVLET, &SPRING, &JAX_RS, &HTTP_SERVER, &GRPC, &KAFKA, &SPANS];

/// Servlets of old are in a package that others of the JDK are in.
const JAVA_EE: &str = "javax/servlet/";

/// The name for all that answer HTTP.
const HTTP: &str = "http";

impl RequestMethods {
    /// Methods by their names (`shop.Server#handle`, with `*` and `?`; without `#` any method of the
    /// class), or those of a framework: `servlet`, `spring`, `jaxrs`, `httpserver`, `grpc`, `kafka`; `http`
    /// for the first four; `spans` for none.
    ///
    /// # Errors
    /// If a pattern is none.
    pub fn new<S: AsRef<str>>(given: &[S]) -> Result<Self, FilterError> {
        let mut methods = RequestMethods::default();
        for given in given.iter().map(S::as_ref) {
            let known = FRAMEWORKS.iter().find(|framework| framework.name == given);
            match known {
                _ if given == HTTP => {
                    let all = [&SERVLET, &SPRING, &JAX_RS, &HTTP_SERVER];
                    methods.frameworks.extend(all);
                }
                Some(framework) => methods.frameworks.push(framework),
                None => methods.patterns.push(Pattern::parse(given)?),
            }
        }
        Ok(methods)
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.frameworks.is_empty()
    }

    /// Returns true if a pattern names methods of this class (internal name).
    pub fn name_class(&self, class: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.class_matches(class))
    }

    /// Returns true if a class may have such methods, by its name alone.
    pub(super) fn may_be_in(&self, class: &str) -> bool {
        !self.frameworks.is_empty() || self.name_class(class)
    }

    /// The purpose of a method, if it handles requests. Constructors and initialisers do not.
    pub(super) fn role(&self, class: &Class, method: &Method) -> Option<Role> {
        let name = decode(method.name);
        if method.code.is_none() || name.starts_with('<') {
            return None;
        }
        let class_name = decode(class.name);
        // The JDK's server calls handlers by the same signature.
        let is_frameworks = !is_jdk(&class_name) || class_name.starts_with(JAVA_EE);
        let named = |pattern: &Pattern| pattern.class_matches(&class_name) && pattern.method_matches(&name);
        if self.patterns.iter().any(named) {
            return Some(Role::Handler);
        }
        if !is_frameworks {
            return None;
        }
        let rules = self.frameworks.iter().flat_map(|framework| framework.rules);
        let mut found = rules.filter(|rule| rule.holds(class, method));
        found.next().map(|rule| rule.role)
    }
}

impl Rule {
    fn holds(&self, class: &Class, method: &Method) -> bool {
        let matches =
            |pattern: &str, text: &[u8]| pattern == "*" || WildMatch::new(pattern).matches(&decode(text));
        matches(self.method, method.name)
            && matches(self.descriptor, method.descriptor)
            && matches(self.class, class.name)
            && matches(self.superclass, class.superclass().unwrap_or_default())
            && (self.annotations.is_empty() || self.is_annotated(class, method))
    }

    fn is_annotated(&self, class: &Class, method: &Method) -> bool {
        let attributes = method.attributes(&class.pool);
        let mut visible = attributes.filter(|attribute| attribute.name == b"RuntimeVisibleAnnotations");
        visible.any(|attribute| {
            let types = annotation_types(&attribute, &class.pool);
            types.iter().any(|annotation| {
                let annotation = decode(annotation);
                let mut wanted = self.annotations.iter();
                wanted.any(|pattern| WildMatch::new(pattern).matches(&annotation))
            })
        })
    }
}
