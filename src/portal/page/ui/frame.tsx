import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { LANGUAGES, type Language, type OrganizationView } from '../../contract.ts'
import { basePath } from '../api.ts'
import { initials } from '../format.ts'
import { LANGUAGE_NAMES, useSpeech } from '../language.ts'
import type { Step } from '../steps.ts'
import { Icon } from './icons.tsx'
import { Notice } from './parts.tsx'

export interface Progress {
  readonly steps: readonly Step[]
  readonly current: Step | null
  readonly go: (step: Step) => void
}

interface FrameProps {
  readonly organization: OrganizationView | null
  readonly progress: Progress | null
  readonly test: boolean
  readonly online: boolean
  readonly announcement: string
  /** Undefined if this browser has no access to the session. */
  readonly onLeave?: () => void
  readonly children: ComponentChildren
}

const Emblem = ({ organization }: { readonly organization: OrganizationView | null }) => {
  const [broken, setBroken] = useState(false)
  if (organization === null) {
    return (
      <span class="logo logo-own">
        <Icon name="shield" size={26} />
      </span>
    )
  }
  if (organization.logo === null || broken) {
    return (
      <span class="logo logo-initials" aria-hidden="true">
        {initials(organization.name)}
      </span>
    )
  }
  return (
    <span class="logo">
      <img src={`${basePath()}/${organization.logo}`} alt="" onError={() => setBroken(true)} />
    </span>
  )
}

const StepList = ({ steps, current, go }: Progress) => {
  const { messages } = useSpeech()
  const at = current === null ? steps.length : steps.indexOf(current)
  return (
    <nav class="steps" aria-label={messages.common.steps}>
      <ol>
        {steps.map((step, index) => {
          const state = index < at ? 'done' : index === at ? 'now' : 'later'
          const label = messages.steps[step]
          return (
            <li key={step} class={`step step-${state}`} aria-current={state === 'now' ? 'step' : undefined}>
              <span class="step-mark" aria-hidden="true">
                {state === 'done' ? <Icon name="check" size={16} /> : index + 1}
              </span>
              {state === 'done' && current !== null ? (
                <button type="button" class="step-label" onClick={() => go(step)}>
                  {label} <span class="sr-only">({messages.common.done})</span>
                </button>
              ) : (
                <span class="step-label">{label}</span>
              )}
            </li>
          )
        })}
      </ol>
    </nav>
  )
}

const StepBar = ({ steps, current }: Progress) => {
  const { messages } = useSpeech()
  const at = current === null ? steps.length : steps.indexOf(current)
  if (current === null || at < 0) return null
  return (
    <div class="step-bar">
      <p>
        <strong>{messages.steps[current]}</strong>
        <span class="muted">{messages.common.stepOf(at + 1, steps.length)}</span>
      </p>
      <div class="segments" aria-hidden="true">
        {steps.map((step, index) => (
          <span key={step} class={index < at ? 'segment-done' : index === at ? 'segment-now' : ''} />
        ))}
      </div>
    </div>
  )
}

const LanguageChoice = () => {
  const { language, messages, change } = useSpeech()
  return (
    <label class="language">
      <Icon name="globe" size={18} />
      <span class="sr-only">{messages.common.language}</span>
      <select value={language} onChange={(event) => change(event.currentTarget.value as Language)}>
        {LANGUAGES.map((known) => (
          <option key={known} value={known} lang={known}>
            {LANGUAGE_NAMES[known]}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Shown only to people who have opened a session of the organization. */
const Contact = ({ organization: { name, supportEmail, privacyUrl } }: { readonly organization: OrganizationView }) => {
  const { common } = useSpeech().messages
  return (
    <>
      {supportEmail !== null && (
        <a href={`mailto:${encodeURIComponent(supportEmail)}`}>{common.support(name, supportEmail)}</a>
      )}
      {privacyUrl !== null && (
        <a href={privacyUrl} target="_blank" rel="noopener noreferrer">
          {common.privacy(name)}
        </a>
      )}
    </>
  )
}

export const Frame = (props: FrameProps) => {
  const { organization, progress, test, online, announcement, onLeave, children } = props
  const { messages } = useSpeech()
  const { common, problems, leave } = messages
  return (
    <div class="frame">
      <a class="skip" href="#content">
        {common.skipToContent}
      </a>
      <header class="masthead">
        <div class="brand">
          <Emblem organization={organization} />
          <p class="brand-name">
            {organization !== null && <strong>{organization.name}</strong>}
            <span class="muted">{common.verification}</span>
          </p>
        </div>
        {progress !== null && <StepList {...progress} />}
        <footer class="imprint">
          <LanguageChoice />
          <p>{common.runBy(location.host)}</p>
        </footer>
      </header>
      {progress !== null && <StepBar {...progress} />}
      <main id="content" tabIndex={-1}>
        {test && (
          <Notice tone="warn">
            <p>{common.testSession}</p>
          </Notice>
        )}
        {!online && (
          <Notice tone="warn" icon="offline">
            <p role="status">{problems.offline}</p>
          </Notice>
        )}
        {children}
        {onLeave !== undefined && (
          <div class="beside">
            <button type="button" class="leave" onClick={onLeave}>
              <Icon name="lock" size={18} /> {leave.button}
            </button>
            {organization !== null && <Contact organization={organization} />}
          </div>
        )}
      </main>
      <p class="sr-only" role="status" aria-live="polite">
        {announcement}
      </p>
    </div>
  )
}
