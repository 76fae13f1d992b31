//! The C++ side of kernel arguments: names of types and the text of `kernels/arguments`.

use super::super::Buffer;
use bytemuck::Pod;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::marker::PhantomData;

/// A type that device memory can hold, by its C++ name.
pub trait Element {
    /// The C++ type.
    fn name() -> String;

    /// The line that declares the type, where it is not built in.
    fn declaration() -> Option<&'static str> {
        None
    }
}

/// The type of a member of a kernel's arguments. Its C++ twin has the same size and alignment.
pub trait Twin: Copy {
    /// The C++ declaration of a member of this type.
    fn member(name: &str) -> String;

    /// Collects the lines that must precede a struct with such a member.
    fn declarations(_lines: &mut BTreeSet<String>) {}
}

macro_rules! built_in {
    ($($rust:ty = $twin:literal),* $(,)?) => {
        $(impl Element for $rust {
            fn name() -> String {
                $twin.into()
            }
        })*
    };
}

built_in! {
    u8 = "unsigned char",
    i32 = "int",
    u32 = "unsigned",
    u64 = "unsigned long long",
    f32 = "float",
    f64 = "double",
    [f32; 4] = "float4",
}

macro_rules! numbers {
    ($($rust:ty)*) => {
        $(impl Twin for $rust {
            fn member(name: &str) -> String {
                format!("{} {name}", <$rust as Element>::name())
            }
        })*
    };
}

numbers! { i32 u32 u64 f32 f64 }

impl<T: Twin, const N: usize> Twin for [T; N] {
    fn member(name: &str) -> String {
        T::member(&format!("{name}[{N}]"))
    }

    fn declarations(lines: &mut BTreeSet<String>) {
        T::declarations(lines);
    }
}

/// Defines types that exist in C++ only; buffers of them hold raw words.
macro_rules! opaque {
    ($($(#[doc = $doc:literal])* $rust:ident = $twin:literal, $declaration:literal;)*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug)]
            pub enum $rust {}

            impl Element for $rust {
                fn name() -> String {
                    $twin.into()
                }

                fn declaration() -> Option<&'static str> {
                    Some($declaration)
                }
            }
        )*
    };
}

opaque! {
    /// A number of the pair arithmetic: float in mixed precision, else double.
    Real = "Real", "#include \"../pair/real.cuh\"";
    /// Four numbers of the pair arithmetic.
    Real4 = "pair::Real4", "namespace pair { struct Real4; }";
    /// A number of a sweep's sums, of a unit with double arithmetic.
    SumReal = "HILBRIUM_SUM_REAL", "#include \"../device.cuh\"";
    /// Fractions and cell of a particle on a mesh (kernels/mesh/mesh.cuh).
    Record = "mesh::Record", "namespace mesh { struct Record; }";
    /// A node of the gravity tree (kernels/far/multipole.cuh).
    Node = "Node", "struct Node;";
    /// The multipole moments of a node (kernels/far/multipole.cuh).
    Multipole = "Multipole", "struct Multipole;";
}

impl Element for crate::tree::bounds::Extent {
    fn name() -> String {
        "Extent".into()
    }

    fn declaration() -> Option<&'static str> {
        Some("struct Extent;")
    }
}

macro_rules! pointers {
    ($($(#[doc = $doc:literal])* $pointer:ident, $name:expr;)*) => {
        $(
            $(#[doc = $doc])*
            #[repr(transparent)]
            pub struct $pointer<T> {
                address: u64,
                element: PhantomData<fn(T)>,
            }

            impl<T> Clone for $pointer<T> {
                fn clone(&self) -> Self {
                    *self
                }
            }

            impl<T> Copy for $pointer<T> {}

            impl<T> std::fmt::Debug for $pointer<T> {
                fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                    write!(f, "{:#x}", self.address)
                }
            }

            impl<T> $pointer<T> {
                /// The null pointer.
                pub const NULL: Self = Self { address: 0, element: PhantomData };

                /// A device address, whose type is not checked: for memory that holds raw words.
                pub fn from_address(address: u64) -> Self {
                    Self { address, element: PhantomData }
                }

                /// A buffer as memory of another type, which is not checked.
                pub fn cast<U>(buffer: &Buffer<U>) -> Self {
                    Self::from_address(*buffer.address())
                }
            }

            impl<T: Pod> $pointer<T> {
                /// The element of that index of a buffer.
                pub fn at(buffer: &Buffer<T>, index: usize) -> Self {
                    Self::from_address(buffer.at(index))
                }
            }

            impl<T> From<&Buffer<T>> for $pointer<T> {
                fn from(buffer: &Buffer<T>) -> Self {
                    Self::from_address(*buffer.address())
                }
            }

            impl<T> From<&mut Buffer<T>> for $pointer<T> {
                fn from(buffer: &mut Buffer<T>) -> Self {
                    Self::from_address(*buffer.address())
                }
            }

            impl<T> From<Option<&Buffer<T>>> for $pointer<T> {
                fn from(buffer: Option<&Buffer<T>>) -> Self {
                    buffer.map_or(Self::NULL, Self::from)
                }
            }

            impl<T: Element> Element for $pointer<T> {
                fn name() -> String {
                    ($name)(T::name())
                }

                fn declaration() -> Option<&'static str> {
                    T::declaration()
                }
            }

            impl<T: Element> Twin for $pointer<T> {
                fn member(name: &str) -> String {
                    format!("{} {name}", Self::name())
                }

                fn declarations(lines: &mut BTreeSet<String>) {
                    lines.extend(T::declaration().map(String::from));
                }
            }
        )*
    };
}

pointers! {
    /// A pointer to device memory that a kernel only reads; [`Input::NULL`] for an optional column that is
    /// missing.
    Input, |element: String| match element.ends_with('*') {
        true => format!("{element} const*"),
        false => format!("const {element}*"),
    };
    /// A pointer to device memory that a kernel writes, or reads and writes.
    Output, |element: String| format!("{element}*");
}

/// A member of a struct of arguments.
pub struct Member {
    /// Comment lines.
    pub docs: &'static [&'static str],
    /// The C++ declaration, without semicolon.
    pub declaration: String,
    /// The name.
    pub name: &'static str,
    /// Bytes from the start of the struct.
    pub offset: usize,
}

/// The C++ header of a unit's arguments.
pub struct Header {
    unit: &'static str,
    /// Lines that precede the structs.
    pub declarations: BTreeSet<String>,
    structs: Vec<String>,
    kernels: Vec<String>,
}

impl Header {
    /// An empty header.
    pub fn new(unit: &'static str) -> Self {
        Self { unit, declarations: BTreeSet::new(), structs: Vec::new(), kernels: Vec::new() }
    }

    /// Adds a struct with assertions on its layout.
    pub fn add_struct(&mut self, name: &str, docs: &[&str], size: usize, members: &[Member]) {
        let mut text = comment("", docs);
        let _ = writeln!(text, "struct {name} {{");
        for Member { docs, declaration, .. } in members {
            let _ = writeln!(text, "{}    {declaration};", comment("    ", docs));
        }
        let _ = writeln!(text, "}};\nHILBRIUM_SIZE({name}, {size})");
        for Member { name: member, offset, .. } in members {
            let _ = writeln!(text, "HILBRIUM_OFFSET({name}, {member}, {offset})");
        }
        self.structs.push(text);
    }

    /// Declares a kernel, so that its definition must take this struct.
    pub fn add_kernel(&mut self, kernel: &str, arguments: &str) {
        let parameter = format!("const __grid_constant__ hilbrium::{arguments} args");
        self.kernels.push(format!("extern \"C\" __global__ void {kernel}(\n    {parameter});\n"));
    }

    /// The name of the header's file and its text.
    pub fn print(self) -> (String, String) {
        let own = include(self.unit);
        let (includes, declarations): (Vec<&String>, Vec<&String>) =
            self.declarations.iter().filter(|line| **line != own).partition(|line| line.starts_with('#'));
        let mut text = String::from(
            "// Printed from src/device/arguments: change it there, then run\n\
             // HILBRIUM_PRINT=1 cargo test --test device kernel_arguments\n\
             #pragma once\n\n#include \"../arguments/layout.cuh\"\n",
        );
        includes.iter().for_each(|line| text += &format!("{line}\n"));
        text += "\nnamespace hilbrium {\n\n";
        declarations.iter().for_each(|line| text += &format!("{line}\n"));
        text += if declarations.is_empty() { "" } else { "\n" };
        text += &self.structs.join("\n");
        text += "\n}  // namespace hilbrium\n";
        text += if self.kernels.is_empty() { "" } else { "\n" };
        text += &self.kernels.concat();
        (file_name(self.unit), text)
    }
}

fn file_name(unit: &str) -> String {
    format!("{}.cuh", unit.trim_end_matches(".cu").replace('/', "_"))
}

/// The line that includes the header of a unit's arguments.
pub fn include(unit: &str) -> String {
    format!("#include \"../arguments/{}\"", file_name(unit))
}

fn comment(indent: &str, docs: &[&str]) -> String {
    docs.iter().map(|line| format!("{indent}//{line}\n")).collect()
}
