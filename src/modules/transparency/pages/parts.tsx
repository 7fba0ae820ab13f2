import { call } from '../../../dashboard/page/api/client.ts'
import { useAction } from '../../../dashboard/page/data/use-action.ts'
import type { ModuleParts } from '../../../dashboard/page/module-pages.ts'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { Button } from '../../../dashboard/page/ui/button.tsx'
import { Problem } from '../../../dashboard/page/ui/problem.tsx'
import { LogHeadCard } from './log-head.tsx'

const SaveProof = ({ uuid }: { readonly uuid: string }) => {
  const { params } = useWorkplace()
  const { busy, failure, run } = useAction(async () => {
    const { proof } = await call('GET /organizations/{organization}/decisions/{uuid}/proof', {
      params: { ...params, uuid },
    })
    const url = URL.createObjectURL(new Blob([proof], { type: 'text/plain' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${uuid}.tlog-proof`
    link.click()
    URL.revokeObjectURL(url)
  })
  return (
    <>
      <p class="soft">
        Proves that the signed head of the log covers this line. Verify it offline with{' '}
        <code>countersign proof check</code> and the log’s public key.
      </p>
      <div class="form-actions">
        <Button icon="download" busy={busy} onClick={() => run()}>
          Save proof
        </Button>
      </div>
      <Problem error={failure} />
    </>
  )
}

export const PARTS: ModuleParts = { decisionLog: LogHeadCard, decision: SaveProof }
