// The page: a link is brought, a session is followed through its steps, or it is said why there is nothing to follow.
import { Component, type ComponentChildren } from 'preact'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import type { EntryAnswer, SessionView } from '../contract.ts'
import { basePath, enter, portalUrl, RefusedError, type SessionCalls, sessionCalls } from './api.ts'
import { useMessages } from './language.ts'
import { Consent } from './screens/consent.tsx'
import { Details } from './screens/details.tsx'
import { Documents } from './screens/documents.tsx'
import { Elsewhere } from './screens/elsewhere.tsx'
import { Outcome } from './screens/outcome.tsx'
import { Problem } from './screens/problem.tsx'
import { Review } from './screens/review.tsx'
import type { StepProps } from './screens/step-props.ts'
import { Wallets } from './screens/wallets.tsx'
import { Welcome } from './screens/welcome.tsx'
import { useOnline, useSession } from './session.ts'
import { allowedStep, countedSteps, currentStep, STEPS, type Step, stepAfter, stepBefore } from './steps.ts'
import { applyBrand } from './theme.ts'
import { Frame } from './ui/frame.tsx'

const SCREENS: Readonly<Record<Step, (props: StepProps) => ComponentChildren>> = {
  welcome: Welcome,
  consent: Consent,
  wallets: Wallets,
  details: Details,
  documents: Documents,
  review: Review,
}

const stepInAddress = (): string => location.hash.slice(1)

/** The step that the address names, and ways to change it that the browser's own back button knows. */
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
  /** What was named is over: going back in the browser does not lead there any more. */
  const clear = useCallback((): void => {
    if (stepInAddress() !== '') history.replaceState(null, '', location.pathname)
    setStep('')
  }, [])
  return { step, go, clear }
}

const NotFound = () => {
  const { problems } = useMessages()
  return <Problem icon="lock" title={problems.noLinkTitle} text={problems.noLinkText} help={problems.noLinkDo} />
}

const Loading = () => {
  const { common } = useMessages()
  return (
    <div class="boot" role="status">
      <span class="spinner" aria-hidden="true" />
      <span class="sr-only">{common.loading}</span>
    </div>
  )
}

interface SteppedProps {
  readonly view: SessionView
  readonly calls: SessionCalls
  readonly apply: (view: SessionView) => void
  readonly refresh: () => void
  readonly online: boolean
}

const Stepped = ({ view, calls, apply, refresh, online }: SteppedProps) => {
  const { step: wanted, go, clear } = useStepInAddress()
  const [announcement, setAnnouncement] = useState('')
  const { status, organization } = view
  // Someone who was sent back first sees why; the address then names where they mend it.
  const acting = status === 'pending' || (status === 'retry' && STEPS.some((step) => step === wanted))
  const step = acting ? (wanted === '' ? currentStep(view) : allowedStep(view, wanted)) : null

  const open = status === 'pending' || status === 'retry'
  useEffect(() => {
    if (!open) clear()
  }, [open, clear])

  const next = (newest = view): void => {
    if (step !== null) go(stepAfter(newest, step))
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
    >
      {Current === null || step === null ? (
        <Outcome key={`${status}-${view.sequence}`} view={view} onRetry={() => go(currentStep(view))} />
      ) : (
        <Current key={step} {...{ view, calls, apply, refresh, go, next, back }} announce={setAnnouncement} />
      )}
    </Frame>
  )
}

const Session = ({ sessionId }: { readonly sessionId: string }) => {
  const calls = useMemo(() => sessionCalls(sessionId), [sessionId])
  const { view, failure, apply, refresh } = useSession(calls)
  const online = useOnline()
  const color = view?.organization.color ?? null
  useEffect(() => applyBrand(color), [color])
  if (failure === null && view !== null) return <Stepped {...{ view, calls, apply, refresh, online }} />
  return (
    <Frame organization={null} progress={null} test={false} online={online} announcement="">
      {failure === null ? <Loading /> : <NotFound />}
    </Frame>
  )
}

type Entering =
  | { readonly kind: 'entering' }
  | { readonly kind: 'dead' }
  | { readonly kind: 'broken'; readonly requestId: string }
  | Extract<EntryAnswer, { kind: 'elsewhere' }>

const Link = ({ token, onEntered }: { readonly token: string; readonly onEntered: (sessionId: string) => void }) => {
  const { problems } = useMessages()
  const online = useOnline()
  const [state, setState] = useState<Entering>({ kind: 'entering' })
  useEffect(() => {
    if (!online) return
    enter(token).then(
      (answer) => {
        if (answer.kind === 'entered') onEntered(answer.sessionId)
        else setState(answer)
      },
      (error: unknown) => {
        const refused = error instanceof RefusedError ? error : null
        setState(refused?.status === 404 ? { kind: 'dead' } : { kind: 'broken', requestId: refused?.requestId ?? '' })
      },
    )
  }, [token, online])
  return (
    <Frame organization={null} progress={null} test={false} online={online} announcement="">
      {state.kind === 'entering' && <Loading />}
      {state.kind === 'dead' && (
        <Problem icon="alert" title={problems.deadLinkTitle} text={problems.deadLinkText} help={problems.deadLinkDo} />
      )}
      {state.kind === 'broken' && (
        <Problem
          icon="alert"
          title={problems.brokenTitle}
          text={problems.brokenText}
          requestId={state.requestId}
          reload
        />
      )}
      {state.kind === 'elsewhere' && <Elsewhere token={token} {...state} onEntered={onEntered} />}
    </Frame>
  )
}

/** A fault of the page itself ends in words too, not in an empty window. */
class Guard extends Component<
  { readonly fallback: ComponentChildren; readonly children: ComponentChildren },
  { readonly broken: boolean }
> {
  override state = { broken: false }
  static override getDerivedStateFromError(): { readonly broken: boolean } {
    return { broken: true }
  }
  override render(): ComponentChildren {
    return this.state.broken ? this.props.fallback : this.props.children
  }
}

const pathInPage = (): string => {
  const { pathname } = location
  const base = basePath()
  return pathname.startsWith(`${base}/`) ? pathname.slice(base.length) : pathname
}

const Routed = () => {
  const { problems } = useMessages()
  const [path, setPath] = useState(pathInPage)
  const online = useOnline()
  const own = portalUrl()
  const [, kind, value = ''] = path.split('/')
  const enterSession = (sessionId: string): void => {
    // The link leaves the address: what is left opens nothing.
    history.replaceState(null, '', `${basePath()}/s/${sessionId}`)
    setPath(`/s/${sessionId}`)
  }
  if (own !== '' && new URL(own).origin !== location.origin) {
    return (
      <Frame organization={null} progress={null} test={false} online={online} announcement="">
        <Problem icon="alert" title={problems.wrongHostTitle} text={problems.wrongHostText(own)} link={own + path} />
      </Frame>
    )
  }
  if (kind === 'v') return <Link token={value} onEntered={enterSession} />
  if (kind === 's' && value !== '') return <Session key={value} sessionId={value} />
  return (
    <Frame organization={null} progress={null} test={false} online={online} announcement="">
      <Problem icon="shield" title={problems.nothingTitle} text={problems.nothingText} help={problems.nothingDo} />
    </Frame>
  )
}

export const App = () => {
  const { problems } = useMessages()
  return (
    <Guard
      fallback={
        <Frame organization={null} progress={null} test={false} online announcement="">
          <Problem icon="alert" title={problems.brokenTitle} text={problems.brokenText} reload />
        </Frame>
      }
    >
      <Routed />
    </Guard>
  )
}
