//! The macro that defines arguments and prints their C++ twins.

/// Defines the argument structs of one unit of kernels and a function `print` that returns the name and the
/// text of their C++ header.
///
/// `pub struct Name for kernel { ... }` are the arguments of a kernel; `pub struct Name { ... }` is shared by
/// several. Members are documented; their types implement [`Twin`](super::twin::Twin).
macro_rules! kernel_arguments {
    (
        unit $unit:literal;
        $(
            $(#[doc = $doc:literal])*
            pub struct $name:ident $(for $kernel:ident)? {
                $($(#[doc = $member_doc:literal])* pub $member:ident: $type:ty,)*
            }
        )*
    ) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            pub struct $name {
                $($(#[doc = $member_doc])* pub $member: $type,)*
            }

            impl $crate::device::arguments::twin::Twin for $name {
                fn member(name: &str) -> String {
                    format!("{} {name}", stringify!($name))
                }

                fn declarations(lines: &mut std::collections::BTreeSet<String>) {
                    lines.insert($crate::device::arguments::twin::include($unit));
                    $(<$type as $crate::device::arguments::twin::Twin>::declarations(lines);)*
                }
            }

            $crate::device::arguments::macros::bind_kernel! { $unit, $name $(, $kernel)? }
        )*

        /// The name and the text of the C++ header.
        pub(super) fn print() -> (String, String) {
            use $crate::device::arguments::twin::{Header, Member, Twin};
            let mut header = Header::new($unit);
            $({
                <$name as Twin>::declarations(&mut header.declarations);
                let members = [$(Member {
                    docs: &[$($member_doc),*],
                    declaration: <$type as Twin>::member(stringify!($member)),
                    name: stringify!($member),
                    offset: std::mem::offset_of!($name, $member),
                }),*];
                header.add_struct(stringify!($name), &[$($doc),*], size_of::<$name>(), &members);
                $(header.add_kernel(stringify!($kernel), stringify!($name));)?
            })*
            header.print()
        }
    };
}

/// Implements [`Arguments`](super::Arguments) for the arguments of a kernel.
macro_rules! bind_kernel {
    ($unit:literal, $name:ident, $kernel:ident) => {
        impl $crate::device::arguments::Arguments for $name {
            const UNIT: &'static str = $unit;
            const KERNEL: &'static str = stringify!($kernel);
        }
    };
    ($unit:literal, $name:ident) => {};
}

pub(super) use bind_kernel;
