package org.dacapo.harness;

/** The argument of a callback of DaCapo's harness. */
public class CommandLineArgs {}
