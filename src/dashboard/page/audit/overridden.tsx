// Marks a change made without the required second person, with the reason given.
import { Badge } from '../ui/parts.tsx'

export const Overridden = ({ detail }: { readonly detail: Readonly<Record<string, unknown>> }) =>
  detail['override'] === true ? (
    <>
      <Badge tone="bad">Second person overridden</Badge> {String(detail['reason'] ?? '')}
    </>
  ) : null
