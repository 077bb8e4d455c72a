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
    rules: Vec<Rule>,
    /// True if spans are wanted in any case.
    spans: bool,
}

/// The methods that a framework calls for requests.
struct Framework {
    name: &'static str,
    rules: &'static [RuleText],
}

/// A rule by which a method is one of these, as patterns. All parts have to hold.
struct RuleText {
    role: Role,
    /// Over the superclass's internal name.
    superclass: &'static str,
    /// Over the method's name.
    method: &'static str,
    /// Over the descriptor.
    descriptor: &'static str,
    /// Over the descriptors of annotations, of which the method has one; empty: none is needed.
    annotations: &'static [&'static str],
}

/// A rule to be asked for each method of each class.
#[derive(Clone, Debug)]
struct Rule {
    role: Role,
    superclass: WildMatch,
    method: WildMatch,
    descriptor: WildMatch,
    annotations: Vec<WildMatch>,
}

const ANY: RuleText = RuleText {
    role: Role::Handler,
    superclass: "*",
    method: "*",
    descriptor: "*",
    annotations: &[],
};

static SERVLET: Framework = Framework {
    name: "servlet",
    rules: &[
        RuleText {
            role: Role::Entry,
            method: "service",
            descriptor: "(L*/servlet/ServletRequest;L*/servlet/ServletResponse;)V",
            ..ANY
        },
        RuleText {
            role: Role::Servlet,
            method: "do*",
            descriptor: "(L*/servlet/http/HttpServletRequest;L*/servlet/http/HttpServletResponse;)V",
            ..ANY
        },
    ],
};
static SPRING: Framework = Framework {
    name: "spring",
    rules: &[RuleText {
        annotations: &[
            "Lorg/springframework/web/bind/annotation/*Mapping;",
            "Lorg/springframework/messaging/handler/annotation/MessageMapping;",
        ],
        ..ANY
    }],
};
static JAX_RS: Framework = Framework {
    name: "jaxrs",
    rules: &[RuleText {
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
        RuleText {
            descriptor: "(*Lcom/sun/net/httpserver/HttpExchange;)V",
            ..ANY
        },
    ],
};
static GRPC: Framework = Framework {
    name: "grpc",
    rules: &[RuleText {
        superclass: "*ImplBase",
        descriptor: "(*Lio/grpc/stub/StreamObserver;)*",
        ..ANY
    }],
};
static KAFKA: Framework = Framework {
    name: "kafka",
    rules: &[RuleText {
        annotations: &["Lorg/springframework/kafka/annotation/KafkaListener;"],
        ..ANY
    }],
};

/// All of them.
static FRAMEWORKS: [&Framework; 6] = [&SERVLET, &SPRING, &JAX_RS, &HTTP_SERVER, &GRPC, &KAFKA];

/// Servlets of old are in a package that others of the JDK are in.
const JAVA_EE: &str = "javax/servlet/";

/// The name for those that answer HTTP.
const HTTP: &str = "http";

/// The name for no methods at all: requests are spans, which code begins and ends itself.
const SPANS: &str = "spans";

impl RequestMethods {
    /// Methods by their names (`shop.Server#handle`, with `*` and `?`; without `#` any method of the
    /// class), or those of a framework: `servlet`, `spring`, `jaxrs`, `httpserver`, `grpc`, `kafka`; `http`
    /// for the first four; `spans` for none.
    ///
    /// # Errors
    /// If a pattern is none.
    pub fn new<S: AsRef<str>>(given: &[S]) -> Result<Self, FilterError> {
        let mut methods = RequestMethods::default();
        let rules = |framework: &Framework| framework.rules.iter().map(Rule::new).collect::<Vec<_>>();
        for given in given.iter().map(S::as_ref) {
            let known = FRAMEWORKS.iter().find(|framework| framework.name == given);
            match known {
                _ if given == HTTP => {
                    let all = [&SERVLET, &SPRING, &JAX_RS, &HTTP_SERVER];
                    methods.rules.extend(all.into_iter().flat_map(rules));
                }
                _ if given == SPANS => methods.spans = true,
                Some(framework) => methods.rules.extend(rules(framework)),
                None => methods.patterns.push(Pattern::parse(given)?),
            }
        }
        Ok(methods)
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.rules.is_empty() && !self.spans
    }

    /// Returns true if a pattern names methods of this class (internal name).
    pub fn name_class(&self, class: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.class_matches(class))
    }

    /// Returns true if a class may have such methods, by its name alone.
    pub(super) fn may_be_in(&self, class: &str) -> bool {
        !self.rules.is_empty() || self.name_class(class)
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
        let mut rules = self.rules.iter();
        rules.find(|rule| rule.holds(class, method)).map(|rule| rule.role)
    }
}

impl Rule {
    fn new(text: &RuleText) -> Self {
        Rule {
            role: text.role,
            superclass: WildMatch::new(text.superclass),
            method: WildMatch::new(text.method),
            descriptor: WildMatch::new(text.descriptor),
            annotations: text.annotations.iter().map(|text| WildMatch::new(text)).collect(),
        }
    }

    fn holds(&self, class: &Class, method: &Method) -> bool {
        self.method.matches(&decode(method.name))
            && self.descriptor.matches(&decode(method.descriptor))
            && (self.superclass).matches(&decode(class.superclass().unwrap_or_default()))
            && (self.annotations.is_empty() || self.is_annotated(class, method))
    }

    fn is_annotated(&self, class: &Class, method: &Method) -> bool {
        let attributes = method.attributes(&class.pool);
        let mut visible = attributes.filter(|attribute| attribute.name == b"RuntimeVisibleAnnotations");
        visible.any(|attribute| {
            let types = annotation_types(&attribute, &class.pool);
            types.iter().any(|annotation| {
                let annotation = decode(annotation);
                self.annotations.iter().any(|wanted| wanted.matches(&annotation))
            })
        })
    }
}
