// Size limits of policies, so that a hostile policy can neither stall a save nor block a worker (threats row 13).
// Enforced when a policy is saved; an evaluation is never interrupted.

export const POLICY_LIMITS = {
  /** UTF-8 bytes of the document. */
  sourceBytes: 256 * 1024,
  /** Lexical tokens of the YAML, on which the cost of parsing depends. */
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
  /** Maximum number of functions or instructions, of their parameters and components in total, and of nested types. */
  functions: 512,
  parameters: 4096,
  abiDepth: 8,
  lists: 16,
  screeners: 4,
  velocityWindows: 8,

  expressionLength: 8192,
  expressionNodes: 1024,
  policyNodes: 8192,
  /** A chain of n operators has depth n. */
  expressionDepth: 256,
  /** Nesting depth of parentheses, brackets, calls and selections, as the parser counts it. */
  bracketDepth: 32,
  listElements: 128,
  callArguments: 4,
  stringLiteralLength: 256,
  evaluationSteps: 20_000,

  /**
   * Maximum number of array elements and text characters that a rule can read from an argument. Longer arguments make
   * the rule fail.
   */
  decodedElements: 256,
  decodedChars: 8192,
  /** Maximum number of values decoded from one call. Data with more values is not decoded. */
  decodedValues: 4096,
} as const
