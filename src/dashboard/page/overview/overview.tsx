// Where one begins: what the organization has, what comes next, and a first call to copy.
import { call } from '../api/client.ts'
import { TryIt } from '../attest/try-it.tsx'
import { useQuery } from '../data/use-query.ts'
import { PAGES } from '../pages.ts'
import { useSession, useWorkplace, type Workplace } from '../shell/session.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icons.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Card, Page } from '../ui/parts.tsx'

interface Step {
  readonly done: boolean
  readonly title: string
  readonly text: string
  readonly href: string
  readonly label: string
}

const read = async ({ params, path }: Workplace, signal: AbortSignal) => {
  const one = { params, signal, query: { limit: 1 } } as const
  const [passkeys, policies, projects, keys, decisions] = await Promise.all([
    call('GET /me/passkeys', { signal }),
    call('GET /organizations/{organization}/policies', { params, signal, query: { limit: 50 } }),
    call('GET /organizations/{organization}/projects', { params, signal, query: { limit: 50 } }),
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
  return { steps, projects: projects.data, hasPasskey: passkeys.data.length > 0 }
}

/** A page that is not there yet is not led to. */
const exists = (path: string): boolean => PAGES.some((page) => page.path === path)
const patternOf = (href: string): string => href.replace(/^\/o\/[^/]+/, '/o/{organization}')

const Steps = ({ steps }: { readonly steps: readonly Step[] }) => (
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
        {exists(patternOf(href)) && (
          <ButtonLink small href={href}>
            {label}
          </ButtonLink>
        )}
      </li>
    ))}
  </ol>
)

export const Overview = () => {
  const workplace = useWorkplace()
  const { account } = useSession()
  const { organization } = workplace
  const query = useQuery((signal) => read(workplace, signal), [organization.id])
  const { value } = query
  const project = value?.projects[0]
  return (
    <Page title={organization.name} lead="What is set up, and what comes next.">
      <Loaded query={query}>
        {(value) => (
          <>
            <Card title="First steps">
              <Steps
                steps={[
                  ...value.steps,
                  {
                    done: account.has_totp || value.hasPasskey,
                    title: 'A second factor for your account',
                    text: 'A passkey or one-time codes, so that a stolen password is not enough.',
                    href: '/account',
                    label: 'Account',
                  },
                ]}
              />
            </Card>
            {project !== undefined && (
              <Card
                title={`Try ${project.name}`}
                text="The answer is a signed attestation, or a denial with its reason."
              >
                <TryIt verificationHash={project.verification_hash} />
              </Card>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
