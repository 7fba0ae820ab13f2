// Evaluates policies, compiled once, on the facts of requests in turn.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compilePolicy } from '../../src/policy/cel/compile.ts'
import type { EvaluationFacts, ListReader } from '../../src/policy/types/facts.ts'
import { EXAMPLES, EXPIRATION_SECONDS, examples, requestOf } from './example.ts'
import type { StageBenchmark, StageRun } from './harness.ts'

const POLICIES = join(import.meta.dir, '..', 'policies')

/** Empty, so that this measures the cost of a query; lists.bench.ts measures the lookup. */
const EMPTY_LISTS: ListReader = { contains: () => false, ageSeconds: () => 0 }

const factsWith = (data: (index: number) => string): readonly EvaluationFacts[] =>
  examples.map((example, index) => ({
    request: { ...requestOf(example), data: data(index), userIp: '192.0.2.1', nowSeconds: EXPIRATION_SECONDS },
    external: {
      geography: {
        country: 'CH',
        region: 'CH-ZH',
        anonymous: false,
        vpn: false,
        proxy: false,
        tor: false,
        hosting: false,
      },
    },
    lists: EMPTY_LISTS,
  }))

const evaluating = (file: string, facts: readonly EvaluationFacts[]): StageRun => {
  const policy = compilePolicy(readFileSync(join(POLICIES, file), 'utf8'))
  return {
    run(iterations) {
      for (let i = 0; i < iterations; i++) {
        if (!policy.evaluate(facts[i % EXAMPLES]!).compliant) throw new Error('the policy denied an example')
      }
    },
  }
}

/** `transfer(address,uint256)` with a different address and amount per request. */
const transfer = (index: number): string => {
  const address = (BigInt(index + 1) * 0x9e3779b97f4a7c15f39cc0605cedc834n) % 2n ** 160n
  return `0xa9059cbb${address.toString(16).padStart(64, '0')}${(index * 1_000).toString(16).padStart(64, '0')}`
}

export const stages: readonly StageBenchmark[] = [
  {
    name: 'policy',
    description: 'policy: six rules evaluated',
    prepare: () =>
      evaluating(
        'six-rules.yaml',
        factsWith((index) => examples[index]?.body.data ?? '0x'),
      ),
  },
  {
    name: 'policy-conditions',
    description: 'policy: one rule of six conditions',
    prepare: () =>
      evaluating(
        'six-conditions.yaml',
        factsWith((index) => examples[index]?.body.data ?? '0x'),
      ),
  },
  {
    name: 'policy-calldata',
    description: 'policy: a decoded ERC-20 transfer, both arguments read',
    prepare: () => evaluating('erc20-transfer.yaml', factsWith(transfer)),
  },
]
