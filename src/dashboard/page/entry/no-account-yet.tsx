import { useRead } from '../data/use-query.ts'
import { Notice } from '../ui/problem.tsx'

export const NoAccountYet = () => {
  // Sign-in works without this response too.
  const { value } = useRead('GET /sign-in')
  if (value === null || value.has_accounts) return null
  return (
    <Notice tone="info" title="There is no account yet">
      <p>
        The service printed a link when it started: it makes the first account, once, within a day. It ends in{' '}
        <code>/welcome#…</code> and stands in the terminal or in the service’s log, as <code>docker compose logs</code>{' '}
        or <code>journalctl</code> show it. For a new link, start the service again.
      </p>
    </Notice>
  )
}
