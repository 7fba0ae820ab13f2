import type { ComponentChildren } from 'preact'
import type { AnswerOf } from '../api/client.ts'
import { CodeBlock } from '../ui/copy.tsx'
import { Notice } from '../ui/problem.tsx'

export type Sent = AnswerOf<'POST /organizations/{organization}/projects/{project}/try'>

const wordsOf = ({ status, body }: Sent): { readonly tone: 'good' | 'warn' | 'bad'; readonly title: string } => {
  const answer = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  if (status >= 400) return { tone: 'bad', title: `Refused with ${status}: ${String(answer['detail'] ?? '')}` }
  return answer['is_compliant'] === true
    ? { tone: 'good', title: 'Compliant: attestation signed' }
    : { tone: 'warn', title: 'Denied: nothing was signed' }
}

export const Answer = ({ sent, children }: { readonly sent: Sent; readonly children: ComponentChildren }) => {
  const { tone, title } = wordsOf(sent)
  return (
    <div class="form" role="status">
      <Notice tone={tone} title={title}>
        <p>
          HTTP {sent.status} in {sent.milliseconds.toLocaleString('en')} ms. This request is recorded like any other.
        </p>
      </Notice>
      <CodeBlock label="response" code={JSON.stringify(sent.body, null, 2)} />
      {sent.status < 400 && <div class="form-actions">{children}</div>}
    </div>
  )
}
