// The ABI encoding of the v2 statement and its Keccak-256 hash.
import { createStatementDigester, loadKeccak256 } from '../../src/signing/statement.ts'
import { CHAIN_ID, EXAMPLES, examples, statementOf, VERIFICATION_HASH } from './example.ts'
import type { StageBenchmark } from './harness.ts'

const statementStage: StageBenchmark = {
  name: 'statement',
  description: 'statement: ABI encoding and Keccak-256',
  async prepare() {
    const digest = createStatementDigester(await loadKeccak256())
    const statements = examples.map(statementOf)
    return {
      run(iterations) {
        for (let i = 0; i < iterations; i++) {
          digest(statements[i % EXAMPLES]!, VERIFICATION_HASH, CHAIN_ID)
        }
      },
    }
  },
}

export const stages: readonly StageBenchmark[] = [statementStage]
