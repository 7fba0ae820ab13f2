// Attester checks on each chain, run on request because chains may respond slowly.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { ChainFinding } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { Button } from '../ui/button.tsx'
import { Badge, Card } from '../ui/parts.tsx'
import { Problem } from '../ui/problem.tsx'
import { Table } from '../ui/table.tsx'

const RESULTS = {
  ok: <Badge tone="good">OK</Badge>,
  note: <Badge tone="warn">Note</Badge>,
  problem: <Badge tone="bad">Problem</Badge>,
} as const

const CHECKS = { rpc: 'RPC URL', clock: 'Clock', registry: 'Registry', attester: 'Attester' } as const

export const ChainChecks = () => {
  const [findings, setFindings] = useState<readonly ChainFinding[] | null>(null)
  const action = useAction(async () => setFindings((await call('GET /chain-checks')).data))
  return (
    <Card
      flush
      title="On chain"
      text="Checks that each chain’s RPC endpoint responds, its clock matches this server’s, and its registry contains exactly the attesters above."
      actions={
        <Button small icon="play" busy={action.busy} onClick={() => action.run()}>
          {findings === null ? 'Check chains' : 'Check again'}
        </Button>
      }
    >
      <Problem error={action.failure} />
      {findings?.length === 0 && (
        <p class="card-note soft">
          No chain has an RPC URL. Set one for each chain in the configuration to find unregistered attesters before
          transactions fail.
        </p>
      )}
      {findings !== null && findings.length > 0 && (
        <Table<ChainFinding>
          caption="Check results"
          rows={findings}
          rowKey={({ chain, check, subject }) => `${chain} ${check} ${subject}`}
          columns={{
            Chain: ({ chain }) => <strong>{chain}</strong>,
            Result: { narrow: true, cell: ({ result }) => RESULTS[result] },
            Of: ({ check }) => CHECKS[check],
            Which: ({ subject }) => <code>{subject}</code>,
            Finding: ({ detail }) => detail,
          }}
        />
      )}
    </Card>
  )
}
