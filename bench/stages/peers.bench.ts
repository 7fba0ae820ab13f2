// Evaluates the six rules with Cedar, with GoRules Zen and with the service's policies, on the same requests.
// BENCH_PEERS is the folder with the packages.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { EXAMPLES, type Example, examples, requestOf } from './example.ts'
import type { StageBenchmark } from './harness.ts'
import { stages as policyStages } from './policy.bench.ts'

/** The used parts of the packages' interfaces. */
interface Cedar {
  preparsePolicySet(id: string, policies: { readonly staticPolicies: string }): { readonly type: string }
  statefulIsAuthorized(call: object): { readonly response?: { readonly decision: string } }
}
interface Zen {
  readonly ZenEngine: new () => {
    createDecision(content: object): { evaluate(context: object): Promise<{ readonly result: { verdict?: string } }> }
  }
}

const requirePeer = createRequire(join(process.env['BENCH_PEERS'] ?? '/', 'package.json'))

const factsOf = (example: Example) => {
  const { from, to, value, data, chain, nowSeconds } = requestOf(example)
  return {
    wallet: from,
    chain: chain.name,
    to,
    value: Number(BigInt(value) / 1_000_000_000n),
    selector: data.slice(0, 10),
    size: (data.length - 2) / 2,
    time: nowSeconds,
  }
}

const FACTS = examples.map(factsOf)

const cedarStage: StageBenchmark = {
  name: 'cedar',
  description: 'six rules with Cedar (WebAssembly, parsed once)',
  prepare() {
    const cedar = requirePeer('@cedar-policy/cedar-wasm/nodejs') as Cedar
    const policies = readFileSync(join(import.meta.dir, '..', 'peers', 'six-rules.cedar'), 'utf8')
    if (cedar.preparsePolicySet('six', { staticPolicies: policies }).type !== 'success')
      throw new Error('Cedar: policies')
    const calls = FACTS.map((context) => ({
      principal: { type: 'Wallet', id: context.wallet },
      action: { type: 'Action', id: 'attest' },
      resource: { type: 'Contract', id: context.to },
      context,
      preparsedPolicySetId: 'six',
      entities: [],
    }))
    return {
      run(iterations) {
        for (let i = 0; i < iterations; i++) {
          const { response } = cedar.statefulIsAuthorized(calls[i % EXAMPLES]!)
          if (response?.decision !== 'allow') throw new Error('Cedar denied an example')
        }
      },
    }
  },
}

/** The rules' conditions as a decision table whose first matching row decides. Other requests are denied. */
const ZEN_ROWS: readonly (readonly [condition: string, verdict: string])[] = [
  ['wallet in ["0x000000000000000000000000000000000000dead", "0x00000000000000000000000000000000deadbeef"]', 'deny'],
  ['chain not in ["ethereum", "base", "arbitrum", "sepolia"]', 'deny'],
  ['to == "0x0000000000000000000000000000000000000001"', 'deny'],
  ['value > 10000000000', 'deny'],
  ['selector not in ["0xa9059cbb", "0x095ea7b3", "0x23b872dd"] or size > 1024', 'deny'],
  ['time >= 1704067200', 'allow'],
]

const zenDecision = {
  nodes: [
    { id: 'in', name: 'in', type: 'inputNode', position: { x: 0, y: 0 } },
    {
      id: 'rules',
      name: 'rules',
      type: 'decisionTableNode',
      position: { x: 1, y: 0 },
      content: {
        hitPolicy: 'first',
        inputs: [{ id: 'when', name: 'when', type: 'expression' }],
        outputs: [{ id: 'verdict', name: 'verdict', field: 'verdict', type: 'expression' }],
        rules: ZEN_ROWS.map(([when, verdict], index) => ({
          _id: String(index),
          when,
          verdict: JSON.stringify(verdict),
        })),
      },
    },
    { id: 'out', name: 'out', type: 'outputNode', position: { x: 2, y: 0 } },
  ],
  edges: [
    { id: '1', type: 'edge', sourceId: 'in', targetId: 'rules' },
    { id: '2', type: 'edge', sourceId: 'rules', targetId: 'out' },
  ],
}

const zenStage: StageBenchmark = {
  name: 'zen',
  description: 'six rules with GoRules Zen (native, a decision table)',
  prepare() {
    const { ZenEngine } = requirePeer('@gorules/zen-engine') as Zen
    const decision = new ZenEngine().createDecision(zenDecision)
    return {
      async run(iterations) {
        for (let i = 0; i < iterations; i++) {
          const { result } = await decision.evaluate(FACTS[i % EXAMPLES]!)
          if (result.verdict !== 'allow') throw new Error('Zen denied an example')
        }
      },
    }
  },
}

const OWN = policyStages.filter(({ name }) => name === 'policy')

export const stages: readonly StageBenchmark[] = [...OWN, cedarStage, zenStage]
