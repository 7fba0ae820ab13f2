import { Component, type ComponentChildren } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { accentFor, cssColor, parseColor } from '../../pages/accent.ts'
import type { EntryAnswer } from '../contract.ts'
import { basePath, enter, portalUrl, RefusedError, sessionCalls } from './api.ts'
import { rememberBegun } from './begun.ts'
import { keepDraft } from './details/draft.ts'
import { useMessages } from './language.ts'
import type { ElsewhereProps } from './screens/elsewhere.tsx'
import { Leave, Left } from './screens/leave.tsx'
import { Problem } from './screens/problem.tsx'
import { useOnline, useSession } from './session.ts'
import { Stepped } from './stepped.tsx'
import { isDone } from './steps.ts'
import { Frame } from './ui/frame.tsx'
import { lazy } from './ui/lazy.tsx'

const Elsewhere = lazy<ElsewhereProps>(async () => (await import('./screens/later.ts')).LATER_SCREENS.Elsewhere)

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

/** Sets the colors of both schemes; the style sheet selects one. */
const applyBrand = (color: string | null): void => {
  const rgb = color === null ? null : parseColor(color)
  const { style } = document.documentElement
  for (const scheme of ['light', 'dark'] as const) {
    if (rgb === null) {
      for (const name of ['fill', 'hover', 'on-fill', 'text']) style.removeProperty(`--brand-${name}-${scheme}`)
      continue
    }
    const accent = accentFor(rgb, scheme)
    style.setProperty(`--brand-fill-${scheme}`, cssColor(accent.fill))
    style.setProperty(`--brand-hover-${scheme}`, cssColor(accent.hover))
    style.setProperty(`--brand-on-fill-${scheme}`, cssColor(accent.onFill))
    style.setProperty(`--brand-text-${scheme}`, cssColor(accent.text))
  }
}

const Session = ({ sessionId }: { readonly sessionId: string }) => {
  const calls = useMemo(() => sessionCalls(sessionId), [sessionId])
  const { view, failure, apply, refresh, tellTabs } = useSession(calls)
  const [leaving, setLeaving] = useState<'no' | 'asking' | 'left'>('no')
  const online = useOnline()
  const color = view?.organization.color ?? null
  useEffect(() => applyBrand(color), [color])
  const gone = failure !== null || leaving === 'left'
  useEffect(() => {
    if (gone || (view !== null && isDone(view, 'details'))) keepDraft(sessionId, null)
  }, [gone, view, sessionId])
  if (failure === null && view !== null && leaving === 'no') {
    return (
      <Stepped
        view={view}
        calls={calls}
        apply={apply}
        refresh={refresh}
        online={online}
        onLeave={() => setLeaving('asking')}
      />
    )
  }
  if (view !== null && leaving === 'asking') {
    return (
      <Frame organization={view.organization} progress={null} test={false} online={online} announcement="">
        <Leave
          calls={calls}
          sessionId={sessionId}
          organizationName={view.organization.name}
          onStay={() => setLeaving('no')}
          onLeft={() => {
            setLeaving('left')
            tellTabs()
          }}
        />
      </Frame>
    )
  }
  return (
    <Frame organization={null} progress={null} test={false} online={online} announcement="">
      {leaving === 'left' ? <Left /> : failure === null ? <Loading /> : <NotFound />}
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
      {state.kind === 'elsewhere' && (
        <Elsewhere
          token={token}
          {...state}
          onEntered={(sessionId) => {
            // The person has signed for this session, so the introduction isn't shown.
            rememberBegun(sessionId)
            onEntered(sessionId)
          }}
        />
      )}
    </Frame>
  )
}

/** Shows a message if rendering fails. */
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
    // Removes the link's token from the URL; the session id grants no access.
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
