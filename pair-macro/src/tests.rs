use crate::expand;
use std::str::FromStr;

const LENNARD_JONES: &str = r#"
pub mod lennard_jones {
    struct Law { epsilon: Real, sigma2: Real }
    struct Sums { #[odd] acceleration: Vec3, #[even] potential: Real }
    /// The pull over r.
    fn pull(law: Law, r2: Real) -> Real {
        let s2 = law.sigma2 / r2;
        24.0 * law.epsilon * s2 * (if s2 < 1.0 && s2 >= 0.5 { s2 } else { -s2.sqrt() })
    }
    fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
        Sums { potential: law.epsilon, acceleration: r * pull(law, r2) }
    }
}"#;

fn outcome(source: &str) -> Result<String, String> {
    let tokens = |text| proc_macro2::TokenStream::from_str(text).expect("tokens");
    expand(tokens(""), tokens(source)).map(|t| t.to_string()).map_err(|e| e.to_string())
}

#[test]
fn prints_and_lifts() {
    let text = outcome(LENNARD_JONES).expect("in the language");
    for part in [
        "const auto s2 = law.sigma2 / r2;",
        "return Real(24.0) * law.epsilon * s2 * ((s2 < Real(1.0) && s2 >= Real(0.5) ? s2 : -sqrt(s2)));",
        "return Sums{r * pull(law, r2), law.epsilon};",
        "/// The pull over r.",
        "constexpr int PARITY[] = {-1, -1, -1, 1};",
    ] {
        assert!(text.contains(part), "{part} not in {text}");
    }
    assert!(text.contains("R :: select ((R :: less (s2 , R :: literal"), "{text}");
}

#[test]
fn a_planted_fault_is_asked_for_in_lanes_and_left_out_of_cuda() {
    let planted = "let s2 = if planted(Halved) { 0.5 * r2 } else { law.sigma2 / r2 };";
    let text =
        outcome(&LENNARD_JONES.replace("let s2 = law.sigma2 / r2;", planted)).expect("in the language");
    assert!(text.contains("const auto s2 = law.sigma2 / r2;") && !text.contains("Real(0.5) * r2"), "{text}");
    let asked = "if :: hilbrium :: faults :: planted (:: hilbrium :: faults :: Fault :: Halved)";
    assert!(text.contains(asked), "{text}");
    let nested = "let s2 = 2.0 * if planted(Halved) { 0.5 } else { r2 };";
    let message =
        outcome(&LENNARD_JONES.replace("let s2 = law.sigma2 / r2;", nested)).expect_err("in a product");
    assert!(message.contains("whole value"), "{message}");
}

#[test]
fn refuses_all_else() {
    let body = |body: &str| LENNARD_JONES.replace("let s2 = law.sigma2 / r2;", body);
    for (source, message) in [
        (body("let s2 = 2;"), "write 2.0"),
        (body("let s2 = 2.0f32;"), "suffix"),
        (body("let mut s2 = 2.0;"), "plain names"),
        (body("let s2 = r2; let s2 = r2;"), "shadowing"),
        (body("let s2 = r2.sin();"), "methods"),
        (body("let s2 = std::f64::consts::PI;"), "let, + - * /"),
        (body("let s2 = other(r2);"), "own functions"),
        (body("for k in 0..3 {} let s2 = r2;"), "let name = value"),
        (body("let s2 = if r2 < 1.0 { r2 };"), "else"),
        (body("let s2 = if r2 == 1.0 { r2 } else { r2 };"), "compares with"),
        (body("let s2 = if r2 < 1.0 { let a = r2; a } else { r2 };"), "one value"),
        (body("let s2 = r2 % 2.0;"), "+ - * /"),
        (body("let s2 = law.sigma2 as Real;"), "let, + - * /"),
        (body("let s2 = |x| x;"), "let, + - * /"),
        (LENNARD_JONES.replace("sigma2: Real", "sigma2: f64"), "Real, Vec3"),
        (LENNARD_JONES.replace("#[odd]", "#[weird]"), "#[odd]"),
        (LENNARD_JONES.replace("#[odd]", "#[odd] #[max]"), "odd quantity"),
        (
            LENNARD_JONES.replace("fn interact(law: Law, r: Vec3,", "fn interact(law: Law, r: Real,"),
            "arguments of",
        ),
        (LENNARD_JONES.replace("fn interact", "fn act"), "fn interact"),
        (LENNARD_JONES.replace("pull(", "distance_alone("), "has this name"),
        (LENNARD_JONES.replace("fn pull(", "const fn pull("), "plain"),
        (LENNARD_JONES.replace("struct Law {", "struct Law<T> {"), "generics"),
        (LENNARD_JONES.replace("potential: law.epsilon, ", ""), "missing"),
        (LENNARD_JONES.replace("struct Law", "use a::b; struct Law"), "structs and functions"),
        ("pub mod law;".into(), "body"),
    ] {
        let error = outcome(&source).expect_err(&source);
        assert!(error.contains(message), "{error:?} lacks {message:?} for {source}");
    }
}

#[test]
fn what_follows_from_the_distance_alone_goes_ahead() {
    let source = LENNARD_JONES.replace(
        "Sums { potential: law.epsilon,",
        "let inverse = r2.reciprocal(); let scaled = law.sigma2 * inverse; let root = (inverse * 2.0).sqrt();
         let both = root * scaled; let pair = two(r2); let more = of(pair.a, r2);
         let near = if r2 < 1.0 { of(root, r2) } else { 0.0 }; Sums { potential: both * more * near,",
    );
    let own = "struct Two { a: Real } fn two(r2: Real) -> Two { Two { a: r2 } } fn of(a: Real, b: Real) -> Real { a * b }";
    let source = source.replace("fn interact", &format!("{own} fn interact"));
    let tokens = |text: &str| proc_macro2::TokenStream::from_str(text).expect("tokens");
    let with = |options: &str| expand(tokens(options), tokens(&source)).expect("in the language").to_string();
    let common = with("cutoff = common");
    let (alone, rest) = (
        common.split("fn distance_alone").nth(1).expect("its function"),
        common.split("fn interact").nth(1).expect("the law's function"),
    );
    let lines = "let inverse = r2 . reciprocal () ; let root = (inverse * R :: literal (token_ , 2.0)) . sqrt () ; \
                 let near = R :: select (R :: less (r2 , R :: literal (token_ , 1.0)) , of (token_ , root , r2) , \
                 R :: literal (token_ , 0.0)) ; [inverse , root , near]";
    assert!(alone.contains(lines), "{alone}");
    assert!(
        rest.contains("let [inverse , root , near] = known ; let scaled = law . sigma2 * inverse ;"),
        "{rest}"
    );
    assert!(common.contains("type Distance < R : Real > = [R ; 3usize]"), "{common}");
    assert!(
        rest.contains("let pair = two (token_ , r2) ; let more = of (token_ , pair . a , r2) ;"),
        "{rest}"
    );
    // Laws with other cutoffs are not pipelined.
    assert!(with("").contains("type Distance < R : Real > = [R ; 0usize]"));
    // The printed source keeps the original function.
    assert!(common.contains("const auto inverse = reciprocal(r2);"), "{common}");
}

#[test]
fn cutoff_is_own_either_or_common() {
    let tokens = |text| proc_macro2::TokenStream::from_str(text).expect("tokens");
    let with = |options| expand(tokens(options), tokens(LENNARD_JONES)).map(|t| t.to_string());
    assert!(with("cutoff = own").expect("own").contains("Cutoff :: Own"));
    assert!(with("cutoff = either").expect("either").contains("Cutoff :: Either"));
    assert!(with("cutoff = common").expect("common").contains("Cutoff :: Common"));
    assert!(with("cutoff = other").is_err() && with("own").is_err() && with("reach = own").is_err());
}

#[test]
fn laws_of_molecules_have_common_parts() {
    let source = r#"pub mod law {
        struct Law { strength: Real }
        struct Particle { charge: Real }
        fn interact(law: Law, i: Particle, j: Particle, r: Vec3, r2: Real) -> Sums {
            Sums { force: r, energy: law.strength, virial: i.charge * j.charge }
        }
    }"#;
    let tokens = |text: &str| proc_macro2::TokenStream::from_str(text).expect("tokens");
    let text = expand(tokens("molecular"), tokens(source)).expect("in the language").to_string();
    for part in [
        "Cutoff :: Common",
        "constexpr int PARITY[] = {-1, -1, -1, 1, 1};",
        "__device__ inline Output finish(Law law, Particle i, Sums sums) {",
    ] {
        assert!(text.contains(part), "{part} not in {text}");
    }
    assert!(expand(tokens("molecule"), tokens(source)).is_err());
}

#[test]
fn laws_call_shared_functions() {
    let tokens = |text: &str| proc_macro2::TokenStream::from_str(text).expect("tokens");
    let shared = r#"pub mod switch_off {
        struct Switch { start: Real }
        fn beyond(to: Switch, distance: Real) -> Real { (distance - to.start).max(0.0) }
    }"#;
    let text = crate::shared::expand(tokens(""), tokens(shared)).expect("in the language").to_string();
    for part in ["namespace switch_off {", "impl Switch < f64 >", "device_text :: real (self . start)"] {
        assert!(text.contains(part), "{part} not in {text}");
    }
    let law = r#"pub mod law {
        struct Law { ending: switch_off::Switch }
        fn interact(law: Law, r: Vec3, r2: Real) -> Sums {
            let distance = r2.sqrt();
            let x = switch_off::beyond(law.ending, distance);
            let ahead = switch_off::other(distance);
            Sums { force: r * x, energy: ahead, virial: 0.0 }
        }
    }"#;
    let text =
        expand(tokens("molecular, uses(switch_off)"), tokens(law)).expect("in the language").to_string();
    for part in [
        "use super :: switch_off",
        "pub ending : switch_off :: Switch < R >",
        "ending : self . ending . lift",
        "let x = switch_off :: beyond (token_ , law . ending , distance)",
        "const auto x = switch_off::beyond(law.ending, distance);",
        "type Distance < R : Real > = [R ; 1usize]",
    ] {
        assert!(text.contains(part), "{part} not in {text}");
    }
    let refused = expand(tokens("molecular"), tokens(law)).map_err(|error| error.to_string());
    assert!(refused.is_err_and(|message| message.contains("own structs")));
}
