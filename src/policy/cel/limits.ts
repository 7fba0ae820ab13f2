// Size limits enforced when a policy is saved, so that a hostile policy can't stall a save or block a worker (threats
// row 13). An evaluation is never interrupted.

export const POLICY_LIMITS = {
  /** UTF-8 bytes of the document. */
  sourceBytes: 256 * 1024,
  /** YAML tokens, on which the cost of parsing depends. */
  sourceTokens: 20_000,
  /** Nesting depth of the YAML. `- - -` and `? ? ?` nest on one line. */
  sourceDepth: 64,
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
  /** Functions or instructions, their parameters and components in total, and nesting of types. */
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
  /** Nesting of parentheses, brackets, calls and selections, as the parser counts it. */
  bracketDepth: 32,
  listElements: 128,
  callArguments: 4,
  stringLiteralLength: 256,
  evaluationSteps: 20_000,

  /** Readable array elements and characters of an argument. A rule that reads a longer argument fails. */
  decodedElements: 256,
  decodedChars: 8192,
  /** Values decoded from one call. A call with more values isn't decoded. */
  decodedValues: 4096,
} as const
