use super::*;

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// V and dV/dr at a distance.
fn at(text: &str, parameters: &[(&str, f64)], r: f64) -> [f64; 2] {
    let known: Vec<String> = parameters.iter().map(|(name, _)| name.to_string()).collect();
    let formula = Formula::new(text, &known).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
    let variables: Vec<f64> =
        std::iter::once(r * r).chain(parameters.iter().map(|(_, value)| *value)).collect();
    let [energy, slope] = formula.evaluate(&variables, &mut Vec::new());
    [energy, slope * 2.0 * r]
}

#[test]
fn precedence_is_that_of_mathematics() {
    for (text, value) in [
        ("1 + 2*3^2", 19.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^3^2", 512.0),
        ("(1 - 2) - 3", -4.0),
        ("1 - 2 - 3", -4.0),
        ("12/2/3", 2.0),
        ("2/4*2", 1.0),
        ("-r^2", -9.0),
        ("1.5e-3*1E3", 1.5),
        ("sqrt(r + 1)", 2.0),
        ("min(r, 2) + max(1, r)", 5.0),
        ("ln(exp(2))", 2.0),
        ("step(r - 3) + step(r - 3.1)", 1.0),
        ("2*x; x = y + 1; y = r", 8.0),
        ("cos(pi) + abs(-r)", 2.0),
        ("erf(0.5) + erfc(0.5)", 1.0),
    ] {
        let [found, _] = at(text, &[], 3.0);
        assert!((found - value).abs() < 1e-14, "{text}: {found}");
    }
}

#[test]
fn slopes_are_derivatives() {
    let parameters = [("a", 1.3), ("b", 0.7)];
    for text in [
        "4*a*((b/r)^12 - (b/r)^6)",
        "a*exp(-b*r) - 1/r^6",
        "a*(1 - exp(-b*(r - 1)))^2 - a",
        "r^1.5 + r^a + a^r",
        "sin(a*r)*cos(b/r) + tanh(r)",
        "erfc(b*r)/r + erf(a*r)",
        "min(r^2, 3*r) + max(r^3, 2*r) + abs(r - 0.5)",
        "ln(1 + r^2)/sqrt(r)",
        "x^3*r; x = y/(1 + y); y = r*a",
        "(a + r)^-3",
        "max(a - r, 0)^2.5 + abs(r - b)^1.5",
    ] {
        for r in [0.6, 1.1, 1.9, 3.3] {
            let step = 1e-5;
            let [_, slope] = at(text, &parameters, r);
            let difference =
                (at(text, &parameters, r + step)[0] - at(text, &parameters, r - step)[0]) / (2.0 * step);
            assert!(
                (slope - difference).abs() < 1e-6 * (1.0 + slope.abs()),
                "{text} at {r}: {slope} {difference}"
            );
        }
    }
}

#[test]
fn whole_powers_are_multiplications_and_subexpressions_are_shared() {
    let formula =
        Formula::new("4*epsilon*((sigma/r)^12 - (sigma/r)^6)", &names(&["epsilon", "sigma"])).unwrap();
    let (text, _) = formula.printed("r2", &names(&["e", "s"]), |value| value.to_string());
    assert!(
        !text.contains("pow") && !text.contains("sqrt") && text.matches("reciprocal").count() == 1,
        "{text}"
    );
    assert!(text.lines().count() <= 24, "{text}");
}

#[test]
fn mistakes_have_their_place_and_remedy() {
    for (text, place, message, help) in [
        ("4*eps*r", "eps", "`eps` is unknown", "known here are r, epsilon, sigma_i, sigma_j, pi"),
        ("sigma/r", "sigma", "`sigma` is unknown", "write sigma_i and sigma_j"),
        ("2 r", "r", "an operator is missing", "products with *"),
        ("2*(r + 1", "(", "not closed", "add `)`"),
        ("2*r)", ")", "closes none", "remove it"),
        ("r**2", "**", "not an operator", "powers with ^"),
        ("r $ 2", "$", "no meaning", "a formula has"),
        ("1.2.3*r", "1.2.3", "is not a number", "write numbers"),
        ("2r", "2r", "is not a number", "products with *"),
        ("r +", "+", "ends where a value", "a formula is like"),
        ("", "", "ends where a value", "a formula is like"),
        ("r*/2", "/", "where a value should stand", "write a number"),
        ("foo(r)", "foo", "is no function", "the functions are sqrt"),
        ("r(2)", "r", "is no function", "write a product with *"),
        ("exp", "exp", "lacks its argument", "exp(...)"),
        ("exp(r, 2)", "exp", "has 2 arguments, not 1", "give it 1"),
        ("min(r)", "min", "has 1 arguments, not 2", "give it 2"),
        ("x; x = y; y = x", "x", "is circular", "use others only"),
        ("r; r = 2", "r", "has a meaning already", "another name"),
        ("x; x = 1; x = 2", "x", "defined twice", "keep one"),
        ("r; 2", "2", "after a semicolon", "as in"),
        ("r = 2", "=", "belongs to a definition", "comes first"),
        ("r; unused = nothing", "nothing", "is unknown", "known here"),
    ] {
        let wrong = Formula::new(text, &names(&["epsilon", "sigma_i", "sigma_j"])).unwrap_err();
        assert_eq!(&text[wrong.span.clone()], place, "{text}: {wrong:?}");
        assert!(wrong.message.contains(message) && wrong.help.contains(help), "{text}: {wrong:?}");
    }
}

/// Any sequence of tokens is a formula or a mistake whose place is in the text.
#[test]
fn any_tokens_end_in_a_formula_or_a_mistake() {
    const PIECES: [&str; 24] = [
        "r", "a", "2", "1e3", ".5", "+", "-", "*", "/", "^", "(", ")", ",", ";", "=", "x", "exp(", "min(",
        "sqrt", "pi", " ", "é", "step(r)", "x=",
    ];
    let mut state = 1u64;
    let mut formulas = 0;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..(state >> 33) % 14 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text += PIECES[(state >> 40) as usize % PIECES.len()];
        }
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(6_364_136_223_846_793_005);
        match Formula::new(&text, &names(&["a"])) {
            Ok(formula) => {
                formulas += 1;
                formula.evaluate(&[1.3, 0.7], &mut Vec::new());
                formula.switched(1.0, 2.0).printed("r2", &names(&["a"]), |value| value.to_string());
            }
            Err(wrong) => assert!(text.get(wrong.span.clone()).is_some(), "{text}: {wrong:?}"),
        }
    }
    assert!(formulas > 100, "{formulas}");
}

#[test]
fn hostile_formulas_are_refused_at_once() {
    let deep = format!("{}r{}", "(".repeat(5000), ")".repeat(5000));
    let signs = format!("{}r", "-".repeat(15_000));
    let powers = "r^".repeat(9000) + "2";
    let long = "r+".repeat(20_000);
    // each definition doubles the one before: 2^40 terms if it were expanded
    let doubled = "x0".to_string()
        + &(0..40).map(|k| format!("; x{k} = sin(x{})*x{}", k + 1, k + 1)).collect::<String>()
        + "; x40 = r";
    for text in [deep, signs, powers, long] {
        assert!(Formula::new(&text, &[]).is_err());
    }
    assert!(Formula::new(&doubled, &[]).is_ok());
    // products and powers of shared factors
    let shared = "1/x40; x0 = r".to_string()
        + &(1..=40).map(|k| format!("; x{k} = (x{}*sin(r))*(x{}*cos(r))", k - 1, k - 1)).collect::<String>();
    let doubled_power = "y28; y0 = r^64".to_string()
        + &(1..=28).map(|k| format!("; y{k} = y{}*y{}", k - 1, k - 1)).collect::<String>();
    for text in [shared, doubled_power] {
        assert!(Formula::new(&text, &[]).is_ok(), "{text}");
    }
    for text in ["\u{0}", "é", "∞*r", "r;;;", ";", "=", "((", "1e999*r", "r^1e9", "0/0"] {
        let _ = Formula::new(text, &[]);
    }
}
