import { useRead } from '../data/use-query.ts'
import { Notice } from '../ui/problem.tsx'

export const NoAccountYet = () => {
  // Sign-in works without this response.
  const { value } = useRead('GET /sign-in')
  if (value === null || value.has_accounts) return null
  return (
    <Notice tone="info" title="No account yet">
      <p>
        When the service started, it printed a link that creates the first account and expires after a day. The link
        ends in <code>/welcome#…</code>. Find it in the terminal or the service’s log, with{' '}
        <code>docker compose logs</code> or <code>journalctl</code>. For a new link, restart the service.
      </p>
    </Notice>
  )
}
