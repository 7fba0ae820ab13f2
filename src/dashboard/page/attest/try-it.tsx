// A first attestation request, to copy as a command or to send from the page.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type AnswerOf, call } from '../api/client.ts'
import { useAction } from '../data/use-action.ts'
import { readDeployment } from '../data/use-deployment.ts'
import { useQuery } from '../data/use-query.ts'
import { useWorkplace, type Workplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { lazy } from '../ui/lazy.tsx'
import { Loading } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'
import { type CallField, type CallFields, callFields, curlFor, KEY_PLACE } from './curl.ts'

const EVM_WALLET = '0x1111111111111111111111111111111111111111'
const SOLANA_WALLET = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM'

const FIRST_KEY = 'First request'

const LABELS: Readonly<Record<CallField, string>> = {
  data: 'Call data',
  msg_value: 'Value, in wei or lamports',
  user_ip: 'Client IP',
}

const CreateKey = lazy(async () => (await import('../keys/create-key.tsx')).CreateAttestationKey, { meanwhile: null })

const read = async ({ params }: Workplace, project: string, signal: AbortSignal) => {
  const [deployment, needed] = await Promise.all([
    readDeployment(),
    call('GET /organizations/{organization}/projects/{project}/try', { params: { ...params, project }, signal }),
  ])
  return {
    chains: deployment.chains,
    apiUrl: deployment.api_url,
    verificationHash: needed.verification_hash,
    requires: needed.requires,
  }
}

type Sent = AnswerOf<'POST /organizations/{organization}/projects/{project}/try'>

const wordsOf = ({ status, body }: Sent): { readonly tone: 'good' | 'warn' | 'bad'; readonly title: string } => {
  const answer = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>
  if (status >= 400) return { tone: 'bad', title: `Refused with ${status}: ${String(answer['detail'] ?? '')}` }
  return answer['is_compliant'] === true
    ? { tone: 'good', title: 'Compliant: attestation signed' }
    : { tone: 'warn', title: 'Denied: nothing was signed' }
}

const Answer = ({ sent, children }: { readonly sent: Sent; readonly children: ComponentChildren }) => {
  const { tone, title } = wordsOf(sent)
  return (
    <div class="form" role="status">
      <Notice tone={tone} title={title}>
        <p>
          HTTP {sent.status} in {sent.milliseconds.toLocaleString('en')} ms. This request is recorded like every other
          request.
        </p>
      </Notice>
      <CodeBlock label="response" code={JSON.stringify(sent.body, null, 2)} />
      {sent.status < 400 && <div class="form-actions">{children}</div>}
    </div>
  )
}

export const TryIt = ({ project, onDecided }: { readonly project: string; readonly onDecided?: () => void }) => {
  const workplace = useWorkplace()
  const { params, may, path } = workplace
  const known = useQuery((signal) => read(workplace, project, signal), [params.organization, project])
  const [chosen, setChain] = useState('')
  const [typed, setWallet] = useState('')
  const [fields, setFields] = useState<CallFields>({})
  const [apiKey, setApiKey] = useState('')
  const [issuing, setIssuing] = useState(false)
  const [isNew, setNew] = useState(false)
  const [sent, setSent] = useState<Sent | null>(null)
  const mayIssue = may('organization-admin')
  const issued = (key: string): void => {
    setApiKey(key)
    setNew(true)
  }
  const send = useAction(async (request: Readonly<Record<string, string>>) => {
    setSent(null)
    let key = apiKey.trim()
    if (key === '') {
      const body = { name: FIRST_KEY, kind: 'attestation' } as const
      key = (await call('POST /organizations/{organization}/keys', { params, body })).key ?? ''
      issued(key)
    }
    const answer = await call('POST /organizations/{organization}/projects/{project}/try', {
      params: { ...params, project },
      body: { api_key: key, request },
    })
    setSent(answer)
    if (answer.status < 400) onDecided?.()
  })
  if (known.value === null) {
    return known.error === null ? <Loading /> : <Problem error={known.error} retry={known.reload} />
  }
  const { chains, apiUrl, verificationHash, requires } = known.value
  const chain = chains.find(({ name }) => name === chosen) ?? chains.find(({ name }) => name === 'base') ?? chains[0]
  const wallet = typed.trim() || (chain?.family === 'solana' ? SOLANA_WALLET : EVM_WALLET)
  const needed = callFields(requires, fields)
  return (
    <div class="form">
      <div class="form-row">
        <SelectField
          label="Chain"
          value={chain?.name ?? ''}
          onValue={setChain}
          choices={chains.map(({ name }) => ({ value: name, label: name }))}
        />
        <TextField
          label="Wallet"
          mono
          value={typed}
          onValue={setWallet}
          input={{ placeholder: wallet, maxLength: 100 }}
        />
        {(Object.keys(needed) as CallField[]).map((field) => (
          <TextField
            key={field}
            label={LABELS[field]}
            mono
            hint="Required by the policy."
            value={fields[field] ?? ''}
            onValue={(value) => setFields({ ...fields, [field]: value })}
            input={{ placeholder: needed[field] ?? '' }}
          />
        ))}
      </div>
      <CodeBlock
        label="command"
        code={curlFor({
          apiUrl,
          wallet,
          verificationHash,
          apiKey: apiKey === '' ? null : apiKey,
          chain: chain?.name ?? '',
          fields: needed,
        })}
      />
      {mayIssue ? (
        <>
          <TextField
            label="Attestation key"
            mono
            value={apiKey}
            onValue={(value) => {
              setApiKey(value)
              setNew(false)
            }}
            hint={`Replaces ${KEY_PLACE} in the command. It isn’t stored.`}
            input={{ maxLength: 200, placeholder: 'Existing key' }}
          />
          <div class="form-actions">
            <Button
              kind="primary"
              icon="play"
              busy={send.busy}
              onClick={() => send.run({ from: wallet, chain: chain?.name ?? '', ...needed })}
            >
              {apiKey.trim() === '' ? 'Create key and send request' : 'Send request'}
            </Button>
            {apiKey === '' && (
              <Button icon="key" onClick={() => setIssuing(true)}>
                Create key
              </Button>
            )}
          </div>
          {isNew && (
            <Notice tone="warn" title="Shown only once">
              <p>The key can’t be shown again. Copy it before you leave this page.</p>
              <Copyable text={apiKey} label="key" />
            </Notice>
          )}
        </>
      ) : (
        <p class="soft">
          Replace <code>{KEY_PLACE}</code> with an attestation key. An organization admin can create one for you.
        </p>
      )}
      <Problem error={send.failure} />
      {sent !== null && (
        <Answer sent={sent}>
          <ButtonLink small href={path('/decisions')}>
            View decisions
          </ButtonLink>
        </Answer>
      )}
      {issuing && <CreateKey onClose={() => setIssuing(false)} onCreated={issued} />}
    </div>
  )
}
