// Shows the step in the URL if it is permitted, or the outcome.
import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import type { SessionView } from '../contract.ts'
import type { SessionCalls } from './api.ts'
import { hasBegun, rememberBegun } from './begun.ts'
import { useMessages } from './language.ts'
import { Consent } from './screens/consent.tsx'
import type { OutcomeProps } from './screens/outcome.tsx'
import { Welcome } from './screens/welcome.tsx'
import {
  allowedStep,
  countedSteps,
  currentStep,
  STEPS,
  type Step,
  type StepProps,
  stepAfter,
  stepBefore,
} from './steps.ts'
import { Frame } from './ui/frame.tsx'
import { lazy } from './ui/lazy.tsx'
import { Notice } from './ui/parts.tsx'

const later = async () => (await import('./screens/later.ts')).LATER_SCREENS
const LATER = {
  wallets: lazy<StepProps>(async () => (await later()).Wallets),
  details: lazy<StepProps>(async () => (await later()).Details),
  documents: lazy<StepProps>(async () => (await later()).Documents),
  review: lazy<StepProps>(async () => (await later()).Review),
}
const SCREENS: Readonly<Record<Step, (props: StepProps) => ComponentChildren>> = {
  welcome: Welcome,
  consent: Consent,
  ...LATER,
}
const Outcome = lazy<OutcomeProps>(async () => (await later()).Outcome)

const stepInAddress = (): string => location.hash.slice(1)

/** The step is in the URL so that the browser's back button works. */
const useStepInAddress = () => {
  const [step, setStep] = useState(stepInAddress)
  useEffect(() => {
    const follow = (): void => setStep(stepInAddress())
    window.addEventListener('popstate', follow)
    return () => window.removeEventListener('popstate', follow)
  }, [])
  const go = useCallback((next: string): void => {
    if (stepInAddress() !== next) history.pushState(null, '', next === '' ? location.pathname : `#${next}`)
    setStep(next)
  }, [])
  /** Removes the step from the URL and the history once the session ends. */
  const clear = useCallback((): void => {
    if (stepInAddress() !== '') history.replaceState(null, '', location.pathname)
    setStep('')
  }, [])
  return { step, go, clear }
}

interface SteppedProps {
  readonly view: SessionView
  readonly calls: SessionCalls
  readonly apply: (view: SessionView) => void
  readonly refresh: () => void
  readonly online: boolean
  readonly onLeave: () => void
}

export const Stepped = ({ view, calls, apply, refresh, online, onLeave }: SteppedProps) => {
  const { step: wanted, go, clear } = useStepInAddress()
  const [announcement, setAnnouncement] = useState('')
  const { welcome } = useMessages()
  const { status, organization, sessionId } = view
  const [begun, setBegun] = useState(() => hasBegun(sessionId))
  // A session that was sent back first shows the reason, until the person starts to correct.
  const acting = status === 'pending' || (status === 'retry' && STEPS.some((step) => step === wanted))
  const step = acting ? (wanted === '' ? currentStep(view) : allowedStep(view, wanted)) : null

  const open = status === 'pending' || status === 'retry'
  useEffect(() => {
    if (!open) clear()
  }, [open, clear])

  useEffect(() => {
    if (step !== 'welcome') for (const part of [...Object.values(LATER), Outcome]) part.preload()
  }, [step])

  const next = (newest = view): void => {
    if (step === null) return
    rememberBegun(sessionId)
    setBegun(true)
    go(stepAfter(newest, step))
  }
  const before = step === null ? null : stepBefore(view, step)
  const back = before !== null ? () => go(before) : status === 'retry' && step !== null ? () => go('') : null
  const steps = countedSteps(view)
  const Current = step === null ? null : SCREENS[step]
  return (
    <Frame
      organization={organization}
      progress={status === 'rejected' || (status === 'retry' && step === null) ? null : { steps, current: step, go }}
      test={view.test}
      online={online}
      announcement={announcement}
      onLeave={onLeave}
    >
      {Current === null || step === null ? (
        <Outcome key={`${status}-${view.sequence}`} view={view} onRetry={() => go(currentStep(view))} />
      ) : (
        <>
          {!begun && step !== 'welcome' && (
            <Notice icon="shield" title={welcome.notExpected} urgent>
              <p>{welcome.notExpectedText(organization.name)}</p>
            </Notice>
          )}
          <Current
            key={step}
            view={view}
            calls={calls}
            apply={apply}
            refresh={refresh}
            go={go}
            next={next}
            back={back}
            announce={setAnnouncement}
          />
        </>
      )}
    </Frame>
  )
}
