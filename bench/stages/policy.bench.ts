// Evaluating the benchmark's policy: compiled once, all six rules, on the facts of one request after the other.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compilePolicy } from '../../src/policy/compile.ts'
import type { RequestFacts } from '../../src/policy/types.ts'
import { CHAIN_ID, EXAMPLES, EXPIRATION_SECONDS, examples } from './example.ts'
import type { StageBenchmark } from './harness.ts'

const POLICY_FILE = join(import.meta.dir, '..', 'policies', 'six-rules.yaml')

const evaluateStage: StageBenchmark = {
  name: 'policy',
  description: 'policy: six rules evaluated',
  prepare() {
    const policy = compilePolicy(readFileSync(POLICY_FILE, 'utf8'))
    const facts = examples.map(
      ({ body }): RequestFacts => ({
        chainName: body.chain,
        chainFamily: 'evm',
        chainId: CHAIN_ID,
        from: body.from,
        to: body.to ?? '',
        value: body.msgValue,
        data: body.data,
        userIp: '',
        nowSeconds: EXPIRATION_SECONDS,
      }),
    )
    return {
      run(iterations) {
        for (let i = 0; i < iterations; i++) {
          if (!policy.evaluate(facts[i % EXAMPLES]!).compliant) throw new Error('the policy denied an example')
        }
      },
    }
  },
}

export const stages: readonly StageBenchmark[] = [evaluateStage]
