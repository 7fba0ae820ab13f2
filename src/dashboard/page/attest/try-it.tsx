// A first call of the attestation API: with the project's hash, every field that its policy asks for, the chain chosen here,
// and the key where one was just issued. It is copied, or sent from here and answered in the page.
import { useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { Project } from '../api/types.ts'
import { useAction } from '../data/use-action.ts'
import { readAll } from '../data/use-pages.ts'
import { useQuery } from '../data/use-query.ts'
import { IssueKey } from '../keys/issue-key.tsx'
import { useWorkplace, type Workplace } from '../shell/session.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
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

/** What the live revision of the project's policy asks of every caller. */
const readRequired = async (
  { params }: Workplace,
  project: Project,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  const path = { ...params, policy: project.policy_id }
  const { active_revision_id: revision } = await call('GET /organizations/{organization}/policies/{policy}', {
    signal,
    params: path,
  })
  if (revision === null) return []
  const { source } = await call('GET /organizations/{organization}/policies/{policy}/revisions/{revision}', {
    signal,
    params: { ...path, revision },
  })
  const { policy } = await call('POST /organizations/{organization}/policies/check', {
    signal,
    params,
    body: { source },
  })
  return policy?.requires ?? []
}

const read = async (workplace: Workplace, verificationHash: string, signal: AbortSignal) => {
  const { params } = workplace
  const [deployment, projects] = await Promise.all([
    call('GET /deployment', { signal }),
    readAll((cursor) =>
      call('GET /organizations/{organization}/projects', { params, signal, query: { limit: 200, cursor } }),
    ),
  ])
  const project = projects.find(({ verification_hash: hash }) => hash === verificationHash)
  return {
    chains: deployment.chains,
    apiUrl: deployment.api_url,
    projectId: project?.id ?? null,
    requires: project === undefined ? [] : await readRequired(workplace, project, signal),
  }
}

export const TryIt = ({ verificationHash }: { readonly verificationHash: string }) => {
  const workplace = useWorkplace()
  const { params, may, path } = workplace
  const known = useQuery((signal) => read(workplace, verificationHash, signal), [params.organization, verificationHash])
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
  const send = useAction(async (project: string, request: Readonly<Record<string, string>>) => {
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
  const { chains, apiUrl, projectId, requires } = known.value
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
              disabled={projectId === null}
              onClick={() => {
                if (projectId !== null) send.run(projectId, { from: wallet, chain: chain?.name ?? '', ...needed })
              }}
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
