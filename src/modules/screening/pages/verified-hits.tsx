// Notice above the queue: sessions of verified people with an undecided hit are in no queue.
import { useContext } from 'preact/hooks'
import { useWorkplace } from '../../../dashboard/page/shell/session.ts'
import { WaitingContext } from '../../../dashboard/page/shell/waiting.ts'
import { ButtonLink } from '../../../dashboard/page/ui/button.tsx'
import { Notice } from '../../../dashboard/page/ui/problem.tsx'
import { counted } from '../../../lib/counted.ts'
import { VERIFIED_HITS } from './hits-path.ts'

export const VerifiedHits = () => {
  const { path } = useWorkplace()
  const hits = useContext(WaitingContext)?.hits
  if (hits === undefined || hits.verified === 0) return null
  const number = `${hits.exact ? '' : 'Over '}${counted(hits.verified, 'verified session has', 'verified sessions have')}`
  return (
    <Notice
      tone="warn"
      title={`${number} an undecided hit`}
      actions={
        <ButtonLink small href={path(VERIFIED_HITS)}>
          Show sessions
        </ButtonLink>
      }
    >
      <p>A changed list matches a name or wallet. Clear or confirm each hit, and revoke the session if necessary.</p>
    </Notice>
  )
}
