// Limits on the size of a policy, so that a hostile policy can neither stall a save nor block a worker (threats row
// 13). They are enforced when the policy is saved. An evaluation is never interrupted.

export const POLICY_LIMITS = {
  /** UTF-8 bytes of the document. */
  sourceBytes: 256 * 1024,
  /** Lexical tokens of the YAML: the cost of parsing depends on tokens, not on bytes. */
  sourceTokens: 20_000,
  /** Nesting depth of flow collections (`[` and `{`) in the YAML. */
  sourceFlowDepth: 32,
  rules: 200,
  nameLength: 128,
  descriptionLength: 4096,
  identifierLength: 64,
  codeLength: 64,
  messageLength: 512,
  quorum: 16,
  constants: 128,
  reads: 16,
  tests: 200,
  /**
   * Maximum number of functions of an abi or instructions of an idl, number of their parameters and components in
   * total, and nesting depth of their types.
   */
  functions: 512,
  parameters: 4096,
  abiDepth: 8,
  /** Distinct lists, screeners and velocity windows per policy. */
  lists: 16,
  screeners: 4,
  velocityWindows: 8,

  /** UTF-16 code units of one expression. */
  expressionLength: 8192,
  /** Syntax tree nodes per expression, and per policy. */
  expressionNodes: 1024,
  policyNodes: 8192,
  /** Nesting depth of one expression. A chain of n operators has depth n. */
  expressionDepth: 256,
  /** Nesting depth of parentheses, brackets, calls and selections, as counted by the parser. */
  bracketDepth: 32,
  listElements: 128,
  callArguments: 4,
  /** UTF-16 code units of one string literal. */
  stringLiteralLength: 256,
  /** Worst-case cost of one evaluation of all rules, in steps (see cost.ts). */
  evaluationSteps: 20_000,

  /**
   * Elements of an array argument and characters of a text argument that a rule may read. With a longer argument, the
   * rule fails.
   */
  decodedElements: 256,
  decodedChars: 8192,
  /** Values decoded from one call. Data with more values is not decoded. */
  decodedValues: 4096,
} as const
