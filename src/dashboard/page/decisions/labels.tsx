import type { Decision } from '../api/types.ts'
import { Badge } from '../ui/parts.tsx'

const precise = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

/** Formats a time in the browser's time zone, which the column heading names. */
export const preciseTime = (at: string): string => precise.format(new Date(at))

export const Verdict = ({ decision }: { readonly decision: Pick<Decision, 'verdict' | 'withheld'> }) => (
  <>
    <Badge tone={decision.verdict === 'compliant' ? 'good' : 'bad'}>
      {decision.verdict === 'compliant' ? 'Compliant' : 'Denied'}
    </Badge>{' '}
    {decision.withheld && <Badge tone="warn">Not sent</Badge>}
  </>
)

export const LIST_RULES: Readonly<Record<string, string>> = { 'list:allow': 'Allow list', 'list:deny': 'Deny list' }

/** Returns the rule's id, which the policy author chose, or the name of a list or the default. */
export const ruleWord = (rule: string | null): string => (rule === null ? 'Policy default' : (LIST_RULES[rule] ?? rule))

export const RuleOf = ({ rule }: { readonly rule: string | null }) =>
  rule === null || rule in LIST_RULES ? <span class="soft">{ruleWord(rule)}</span> : <code>{rule}</code>

export const countWord = (count: number): string => count.toLocaleString('en')
