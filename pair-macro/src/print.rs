//! Prints a law as CUDA C++. The printer is also the checker: whatever it cannot print is not in the
//! language.

use crate::{Module, fault, law};
use quote::ToTokens;
use syn::{
    Attribute, BinOp, Block, Error, Expr, ExprField, ExprLit, FnArg, Ident, ItemFn, ItemStruct, Lit, Local,
    Member, Pat, Result, ReturnType, Stmt, Type, UnOp,
};

const METHODS: [&str; 11] =
    ["sqrt", "abs", "min", "max", "exp", "ln", "mul_add", "reciprocal", "reciprocal_root", "dot", "cross"];
const FUNCTIONS: [&str; 6] =
    ["kernel_value", "kernel_slope", "table_value", "radial_energy", "smooth_part", "outer"];
const TYPES: [&str; 7] = ["Real", "Vec3", "Tensor", "Kernel", "Table", "RadialEnergy", "SmoothPart"];

fn refuse<T>(what: &impl ToTokens, why: &str) -> Result<T> {
    Err(Error::new_spanned(what, why))
}

/// Prints a law as a namespace.
pub fn module(name: &Ident, module: &Module) -> Result<String> {
    namespace(name, module, &law::tables(module)?)
}

/// A module as a namespace, with these tables between its structs and its functions.
pub fn namespace(name: &Ident, module: &Module, tables: &str) -> Result<String> {
    let printer = Printer { module };
    let structs = each(&module.structs, |s| printer.structure(s))?;
    let functions = each(&module.functions, |f| printer.function(f))?;
    Ok(format!(
        "namespace {name} {{\n\n{}{tables}{}}} // namespace {name}\n",
        structs.concat(),
        functions.concat()
    ))
}

fn each<'a, T: 'a>(
    items: impl IntoIterator<Item = &'a T>,
    print: impl Fn(&'a T) -> Result<String>,
) -> Result<Vec<String>> {
    items.into_iter().map(print).collect()
}

fn documentation(attributes: &[Attribute], indent: &str) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(format!("{indent}///{}\n", text.value())),
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect()
}

struct Printer<'a> {
    module: &'a Module,
}

impl Printer<'_> {
    fn type_name(&self, ty: &Type) -> Result<String> {
        if let Type::Path(path) = ty
            && let Some(name) = path.path.get_ident()
            && (TYPES.iter().any(|known| name == known) || self.module.structure(&name.to_string()).is_some())
        {
            return Ok(name.to_string());
        }
        if let Type::Path(path) = ty
            && self.module.shares(&path.path)
        {
            return Ok(shared_name(&path.path));
        }
        refuse(
            ty,
            "a pair law knows Real, Vec3, Tensor, Kernel, Table, RadialEnergy, SmoothPart and its own structs only",
        )
    }

    fn structure(&self, item: &ItemStruct) -> Result<String> {
        if !item.generics.params.is_empty() {
            return refuse(&item.generics, "structs of a pair law have no generics");
        }
        if item.fields.is_empty() {
            return refuse(item, "a struct of a pair law has at least one field");
        }
        let field = |f: &syn::Field| match &f.ident {
            Some(name) => {
                Ok(format!("{}    {} {name};\n", documentation(&f.attrs, "    "), self.type_name(&f.ty)?))
            }
            None => refuse(f, "fields of a pair law's structs have names"),
        };
        let fields = each(&item.fields, field)?.concat();
        Ok(format!("{}struct {} {{\n{fields}}};\n\n", documentation(&item.attrs, ""), item.ident))
    }

    fn function(&self, function: &ItemFn) -> Result<String> {
        let signature = &function.sig;
        let plain =
            signature.constness.is_none() && signature.asyncness.is_none() && signature.unsafety.is_none();
        if !plain || !signature.generics.params.is_empty() {
            return refuse(
                signature,
                "functions of a pair law are plain: no generics, const, async or unsafe",
            );
        }
        let mut names = Vec::new();
        let mut arguments = Vec::new();
        for argument in &signature.inputs {
            match argument {
                FnArg::Typed(typed) => {
                    let name = binding(&typed.pat, &mut names)?;
                    arguments.push(format!("{} {name}", self.type_name(&typed.ty)?));
                }
                FnArg::Receiver(receiver) => return refuse(receiver, "functions of a pair law have no self"),
            }
        }
        let ReturnType::Type(_, output) = &signature.output else {
            return refuse(signature, "a function of a pair law returns a value");
        };
        let mut body = String::new();
        let (last, lets) = match function.block.stmts.split_last() {
            Some((Stmt::Expr(last, None), lets)) => (last, lets),
            _ => return refuse(&function.block, "a function of a pair law ends with its value"),
        };
        for statement in lets {
            match statement {
                Stmt::Local(Local { pat, init: Some(init), .. }) if init.diverge.is_none() => {
                    let value = self.expression(&init.expr)?;
                    let name = binding(pat, &mut names)?;
                    body += &format!("    const auto {name} = {value};\n");
                }
                other => return refuse(other, "a pair law knows `let name = value;` and a last value only"),
            }
        }
        body += &format!("    return {};\n", self.expression(last)?);
        Ok(format!(
            "{}__device__ inline {} {}({}) {{\n{body}}}\n\n",
            documentation(&function.attrs, ""),
            self.type_name(output)?,
            signature.ident,
            arguments.join(", ")
        ))
    }

    fn expression(&self, expression: &Expr) -> Result<String> {
        Ok(match expression {
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => match number.suffix() {
                "" => format!("Real({})", number.base10_digits()),
                _ => return refuse(number, "numbers of a pair law have no suffix"),
            },
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => {
                return refuse(number, "numbers of a pair law are real: write 2.0, not 2");
            }
            Expr::Path(path) if path.path.get_ident().is_some() => path.to_token_stream().to_string(),
            Expr::Paren(inside) => format!("({})", self.expression(&inside.expr)?),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                format!("-{}", self.expression(&unary.expr)?)
            }
            Expr::Field(ExprField { base, member: Member::Named(member), .. }) => {
                format!("{}.{member}", self.expression(base)?)
            }
            Expr::Binary(binary) => {
                // the right value is printed without parentheses
                if fault::plants(&binary.left) || fault::plants(&binary.right) {
                    return refuse(
                        binary,
                        "a planted fault is the whole value of a `let`, a field or a branch",
                    );
                }
                let operator = match binary.op {
                    BinOp::Add(_) => "+",
                    BinOp::Sub(_) => "-",
                    BinOp::Mul(_) => "*",
                    BinOp::Div(_) => "/",
                    _ => return refuse(&binary.op, "a pair law knows + - * /, and comparisons in `if` only"),
                };
                format!("{} {operator} {}", self.expression(&binary.left)?, self.expression(&binary.right)?)
            }
            Expr::MethodCall(call) => {
                if !METHODS.iter().any(|known| call.method == known) || call.turbofish.is_some() {
                    return refuse(
                        &call.method,
                        &format!("a pair law knows the methods {}", METHODS.join(", ")),
                    );
                }
                let arguments =
                    each(std::iter::once(&*call.receiver).chain(&call.args), |a| self.expression(a))?;
                format!("{}({})", call.method, arguments.join(", "))
            }
            Expr::Call(call) => self.call(call)?,
            Expr::If(choice) => {
                let Some((_, no)) = &choice.else_branch else {
                    return refuse(choice, "`if` of a pair law is a value: it needs `else`");
                };
                let no = match &**no {
                    Expr::Block(block) => self.value(&block.block)?,
                    other => self.expression(other)?,
                };
                if fault::planted(choice).is_some() {
                    self.value(&choice.then_branch)?;
                    return Ok(no);
                }
                format!("({} ? {} : {no})", self.condition(&choice.cond)?, self.value(&choice.then_branch)?)
            }
            Expr::Struct(literal) => self.literal(literal)?,
            other => {
                return refuse(
                    other,
                    "a pair law knows let, + - * /, if a < b { } else { }, calls and struct literals only",
                );
            }
        })
    }

    fn call(&self, call: &syn::ExprCall) -> Result<String> {
        if let Expr::Path(path) = &*call.func
            && let Some(name) = path.path.get_ident()
            && (FUNCTIONS.iter().any(|known| name == known)
                || self.module.function(&name.to_string()).is_some())
        {
            return Ok(format!("{name}({})", each(&call.args, |a| self.expression(a))?.join(", ")));
        }
        if let Expr::Path(path) = &*call.func
            && self.module.shares(&path.path)
        {
            let arguments = each(&call.args, |a| self.expression(a))?.join(", ");
            return Ok(format!("{}({arguments})", shared_name(&path.path)));
        }
        refuse(&call.func, &format!("a pair law calls its own functions and {} only", FUNCTIONS.join(", ")))
    }

    fn condition(&self, condition: &Expr) -> Result<String> {
        if let Expr::Paren(inside) = condition {
            return Ok(format!("({})", self.condition(&inside.expr)?));
        }
        let Expr::Binary(binary) = condition else {
            return refuse(condition, "a condition of a pair law compares: a < b, with && and ||");
        };
        let (operator, nested) = match binary.op {
            BinOp::Lt(_) => ("<", false),
            BinOp::Le(_) => ("<=", false),
            BinOp::Gt(_) => (">", false),
            BinOp::Ge(_) => (">=", false),
            BinOp::And(_) => ("&&", true),
            BinOp::Or(_) => ("||", true),
            _ => return refuse(&binary.op, "a condition of a pair law compares with < <= > >=, && and ||"),
        };
        let side = |side: &Expr| if nested { self.condition(side) } else { self.expression(side) };
        Ok(format!("{} {operator} {}", side(&binary.left)?, side(&binary.right)?))
    }

    fn value(&self, block: &Block) -> Result<String> {
        match &block.stmts[..] {
            [Stmt::Expr(expression, None)] => self.expression(expression),
            _ => refuse(block, "a branch of a pair law is one value"),
        }
    }

    /// Prints a struct literal by position: C++ requires declaration order.
    fn literal(&self, literal: &syn::ExprStruct) -> Result<String> {
        let Some(name) = literal.path.get_ident().map(Ident::to_string) else {
            return refuse(&literal.path, "a pair law makes its own structs, Vec3 and Tensor only");
        };
        let order: Vec<String> = match (name.as_str(), self.module.structure(&name)) {
            ("Vec3", _) => ["x", "y", "z"].map(String::from).into(),
            ("Tensor", _) => ["xx", "xy", "xz", "yy", "yz", "zz"].map(String::from).into(),
            (_, Some(item)) => item.fields.iter().map(|f| f.ident.to_token_stream().to_string()).collect(),
            _ => return refuse(&literal.path, "a pair law makes its own structs, Vec3 and Tensor only"),
        };
        if let Some(rest) = &literal.rest {
            return refuse(rest, "a pair law names every field of a struct");
        }
        let mut values = Vec::new();
        for field in &order {
            match literal.fields.iter().find(|f| f.member.to_token_stream().to_string() == *field) {
                Some(given) => values.push(self.expression(&given.expr)?),
                None => return refuse(literal, &format!("the field {field} is missing")),
            }
        }
        Ok(format!("{name}{{{}}}", values.join(", ")))
    }
}

/// `NAME::ITEM` of a module of shared functions.
fn shared_name(path: &syn::Path) -> String {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>().join("::")
}

/// Returns the name of a plain new binding; CUDA C++ has no shadowing within a scope.
fn binding(pattern: &Pat, names: &mut Vec<String>) -> Result<String> {
    match pattern {
        Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() && name.subpat.is_none() => {
            let name_text = name.ident.to_string();
            if names.contains(&name_text) {
                return refuse(name, "this name is taken: CUDA C++ has no shadowing, choose another");
            }
            names.push(name_text.clone());
            Ok(name_text)
        }
        other => refuse(other, "a pair law binds plain names only"),
    }
}
