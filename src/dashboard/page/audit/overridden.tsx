// Says plainly that a change was made without the second person that it needed, and the reason that was given.
import { Badge } from '../ui/parts.tsx'

export const Overridden = ({ detail }: { readonly detail: Readonly<Record<string, unknown>> }) =>
  detail['override'] === true ? (
    <>
      <Badge tone="bad">Second person overridden</Badge> {String(detail['reason'] ?? '')}
    </>
  ) : null
