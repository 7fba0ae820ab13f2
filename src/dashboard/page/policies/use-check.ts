// Checks a document while it is edited: shortly after the last key press, one check at a time.
import { useEffect, useState } from 'preact/hooks'
import { call } from '../api/client.ts'
import type { CheckedPolicy, PolicyIssue } from '../api/types.ts'
import { useWorkplace } from '../shell/session.ts'

const QUIET_MS = 300
const NO_ISSUES: readonly PolicyIssue[] = []

export interface Check {
  readonly source: string | null
  readonly issues: readonly PolicyIssue[]
  /** Probable mistakes that don't prevent saving. */
  readonly warnings: readonly PolicyIssue[]
  /** Summary of the last document without mistakes. */
  readonly policy: CheckedPolicy | null
  /** Whether the text has changed since the check. */
  readonly pending: boolean
  readonly error: unknown
  readonly again: () => void
}

export const useCheck = (source: string): Check => {
  const { params } = useWorkplace()
  const [check, setCheck] = useState<Omit<Check, 'pending' | 'again'>>({
    source: null,
    issues: NO_ISSUES,
    warnings: NO_ISSUES,
    policy: null,
    error: null,
  })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (source.trim() === '') {
      setCheck({ source, issues: NO_ISSUES, warnings: NO_ISSUES, policy: null, error: null })
      return
    }
    const controller = new AbortController()
    const ask = async (): Promise<void> => {
      try {
        const { issues, warnings, policy } = await call('POST /organizations/{organization}/policies/check', {
          params,
          body: { source },
          signal: controller.signal,
        })
        setCheck((before) => ({ source, issues, warnings, policy: policy ?? before.policy, error: null }))
      } catch (error) {
        if (!controller.signal.aborted) setCheck((before) => ({ ...before, error }))
      }
    }
    const timer = setTimeout(() => void ask(), QUIET_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [source, params.organization, turn])
  const again = (): void => setTurn((now) => now + 1)
  return { ...check, pending: check.source !== source && check.error === null, again }
}

export const isGood = ({ pending, issues, source, error }: Check): boolean =>
  !pending && error === null && source !== null && source.trim() !== '' && issues.length === 0
