// What a new organization does first, until all of it is done; and a first call to copy.
import { call } from '../api/client.ts'
import { TryIt } from '../attest/try-it.tsx'
import type { Workplace } from '../shell/session.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card } from '../ui/parts.tsx'

interface Step {
  readonly done: boolean
  readonly title: string
  readonly text: string
  readonly href: string
  readonly label: string
}

export interface Beginning {
  readonly steps: readonly Step[]
  readonly project: { readonly name: string; readonly verification_hash: string } | null
}

/** `done` for an organization that has everything. */
export const readBeginning = async ({ params, path }: Workplace, signal: AbortSignal): Promise<Beginning | 'done'> => {
  const one = { params, signal, query: { limit: 1 } } as const
  const [policies, projects, keys, decisions] = await Promise.all([
    call('GET /organizations/{organization}/policies', { params, signal, query: { limit: 50 } }),
    call('GET /organizations/{organization}/projects', one),
    call('GET /organizations/{organization}/keys', { params, signal, query: { kind: 'attestation', limit: 50 } }),
    call('GET /organizations/{organization}/decisions', one),
  ])
  const steps: readonly Step[] = [
    {
      done: policies.data.some(({ active_revision_id: active }) => active !== null),
      title: 'A policy that decides',
      text: 'Says which wallets pass and why. Begin with a template, try it, make it live.',
      href: path('/policies'),
      label: 'Policies',
    },
    {
      done: projects.data.length > 0,
      title: 'A project that uses it',
      text: 'Gets the verification hash that your contracts carry.',
      href: path('/projects'),
      label: 'Projects',
    },
    {
      done: keys.data.some(({ status }) => status === 'active'),
      title: 'A key for your backend',
      text: 'Sent with every request; shown once when it is issued.',
      href: path('/keys'),
      label: 'API keys',
    },
    {
      done: decisions.data.length > 0,
      title: 'The first attestation',
      text: 'Copy the command below, or call the API from your backend.',
      href: path('/decisions'),
      label: 'Decisions',
    },
  ]
  return steps.every(({ done }) => done) ? 'done' : { steps, project: projects.data[0] ?? null }
}

export const FirstSteps = ({ beginning: { steps, project } }: { readonly beginning: Beginning }) => (
  <>
    <Card title="First steps">
      <ol class="steps">
        {steps.map(({ done, title, text, href, label }) => (
          <li key={title} class={done ? 'step step-done' : 'step'}>
            <span class="step-mark">{done ? <Icon name="check" size={14} /> : null}</span>
            <div class="step-body">
              <h3>
                {title}
                <span class="sr-only">{done ? ' (done)' : ' (to do)'}</span>
              </h3>
              <p class="soft">{text}</p>
            </div>
            <ButtonLink small href={href}>
              {label}
            </ButtonLink>
          </li>
        ))}
      </ol>
    </Card>
    {project !== null && (
      <Card title={`Try ${project.name}`} text="The answer is a signed attestation, or a denial with its reason.">
        <TryIt verificationHash={project.verification_hash} />
      </Card>
    )}
  </>
)
