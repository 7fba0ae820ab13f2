// A first call of the attestation API: with the project's hash, every field that its policy asks for, the chain chosen here,
// and the key where one was just issued. It is copied, or sent from here and answered in the page.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
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
import { Answer, type Sent } from './answer.tsx'
import { type CallField, type CallFields, callFields, curlFor, KEY_PLACE } from './curl.ts'

const EVM_WALLET = '0x1111111111111111111111111111111111111111'
const SOLANA_WALLET = '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM'

/** What the key is called that is issued to send the first call. */
const FIRST_KEY = 'First call'

const LABELS: Readonly<Record<CallField, string>> = {
  data: 'Call data',
  msg_value: 'Value, in wei or lamports',
  user_ip: 'Client IP',
}

const IssueKey = lazy(async () => (await import('../keys/issue-key.tsx')).IssueKey, { meanwhile: null })

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

/** @param project its id */
export const TryIt = ({ project }: { readonly project: string }) => {
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
  /** With a key that is issued for it where none was given. */
  const send = useAction(async (request: Readonly<Record<string, string>>) => {
    setSent(null)
    let key = apiKey.trim()
    if (key === '') {
      const body = { name: FIRST_KEY, kind: 'attestation' } as const
      key = (await call('POST /organizations/{organization}/keys', { params, body })).key ?? ''
      issued(key)
    }
    setSent(
      await call('POST /organizations/{organization}/projects/{project}/try', {
        params: { ...params, project },
        body: { api_key: key, request },
      }),
    )
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
            hint="The policy asks for it."
            value={fields[field] ?? ''}
            onValue={(value) => setFields({ ...fields, [field]: value })}
            input={{ placeholder: needed[field] ?? '' }}
          />
        ))}
      </div>
      <CodeBlock
        label="the command"
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
            hint={`Stands for ${KEY_PLACE} in the command, and stays in this page.`}
            input={{ maxLength: 200, placeholder: 'One that you have, or a new one' }}
          />
          <div class="form-actions">
            <Button
              kind="primary"
              icon="play"
              busy={send.busy}
              onClick={() => send.run({ from: wallet, chain: chain?.name ?? '', ...needed })}
            >
              {apiKey.trim() === '' ? 'Issue a key and send now' : 'Send now'}
            </Button>
            {apiKey === '' && (
              <Button icon="key" onClick={() => setIssuing(true)}>
                Issue a key
              </Button>
            )}
          </div>
          {isNew && (
            <Notice tone="warn" title="The key is shown here, once">
              <p>
                It is kept nowhere in a form that could be shown again: copy it to where it belongs before you leave.
              </p>
              <Copyable text={apiKey} label="the key" />
            </Notice>
          )}
        </>
      ) : (
        <p class="soft">
          <code>{KEY_PLACE}</code> is an attestation key: one that you have, or one that an organization admin issues
          for you.
        </p>
      )}
      <Problem error={send.failure} />
      {sent !== null && (
        <Answer sent={sent}>
          <ButtonLink small href={path('/decisions')}>
            See it under Decisions
          </ButtonLink>
        </Answer>
      )}
      {issuing && <IssueKey only="attestation" onClose={() => setIssuing(false)} onIssued={issued} />}
    </div>
  )
}
