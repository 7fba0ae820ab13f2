import type { Overview } from '../api/types.ts'
import { TryIt } from '../attest/try-it.tsx'
import { useWorkplace } from '../shell/session.ts'
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

type Beginning = Overview['first_steps']

interface FirstStepsProps {
  readonly beginning: Beginning
  readonly isDeciding: boolean
  readonly onDecided: () => void
}

const StepOf = ({ done, title, text, href, label }: Step) => (
  <li class={done ? 'step step-done' : 'step'}>
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
)

export const FirstSteps = ({ beginning, isDeciding, onDecided }: FirstStepsProps) => {
  const { path } = useWorkplace()
  const { project } = beginning
  const steps: readonly Step[] = [
    {
      done: beginning.policy,
      title: 'Create a policy',
      text: 'A policy decides which wallets pass. Start from a template, try it, then make it live.',
      href: path('/policies'),
      label: 'Policies',
    },
    {
      done: project !== null,
      title: 'Create a project',
      text: 'A project provides the verification hash for your contracts.',
      href: path('/projects'),
      label: 'Projects',
    },
    {
      done: beginning.key,
      title: 'Create an API key',
      text: 'Your backend sends it with every request. The key is shown only once.',
      href: path('/keys'),
      label: 'API keys',
    },
    {
      done: isDeciding,
      title: 'Request an attestation',
      text:
        project === null
          ? 'Call the API from your backend with the key and the verification hash.'
          : 'Send the request below, or call the API from your backend.',
      href: path('/decisions'),
      label: 'Decisions',
    },
  ]
  const [done, open] = [steps.filter((step) => step.done), steps.filter((step) => !step.done)]
  return (
    <>
      <Card title={open.length === 0 ? 'Setup complete' : 'First steps'}>
        <ol class="steps">
          {open.map((step) => (
            <StepOf key={step.title} {...step} />
          ))}
        </ol>
        {done.length > 0 && (
          <details>
            <summary class="soft">
              {done.length} of {steps.length} done
            </summary>
            <ol class="steps">
              {done.map((step) => (
                <StepOf key={step.title} {...step} />
              ))}
            </ol>
          </details>
        )}
      </Card>
      {project !== null && (
        <Card title={`Try ${project.name}`} text="The response is a signed attestation, or a denial with its reason.">
          <TryIt project={project.id} onDecided={onDecided} />
        </Card>
      )}
    </>
  )
}
