// Forms that edit the same document as the text editor. A rule that no form can show is edited as text.
import { useState } from 'preact/hooks'
import { addRule, arrangeRules, changeRule, type RuleText, readRules } from '../../../policy/rule-form/policy-rules.ts'
import {
  type FactTypes,
  hasValue,
  type Operator,
  operatorsOf,
  parseCondition,
  type RuleCondition,
  renderCondition,
} from '../../../policy/rule-form/rule-condition.ts'
import type { AnswerOf } from '../api/client.ts'
import { Button } from '../ui/button.tsx'
import { SelectField, TextField } from '../ui/field.tsx'
import { Card } from '../ui/parts.tsx'
import { Notice } from '../ui/problem.tsx'

const KINDS = { allow: 'Allow', deny: 'Deny', require: 'Deny unless', review: 'Send to review' } as const
const OPERATORS: Readonly<Record<Operator, string>> = {
  always: 'always',
  true: 'is true',
  false: 'is false',
  listed: 'is on the list',
  'not listed': 'is not on the list',
  '==': 'is',
  '!=': 'is not',
  in: 'is one of',
  'not in': 'is none of',
  '<': 'is less than',
  '<=': 'is at most',
  '>': 'is more than',
  '>=': 'is at least',
}
const HINTS: Readonly<Record<string, string>> = {
  uint256: 'Whole number, or an amount such as 1.5 ether',
  'google.protobuf.Timestamp': 'Such as 2026-01-31T00:00:00Z',
  'google.protobuf.Duration': 'For example, 7 days',
}

const hintOf = (type: string | undefined, operator: Operator): string | undefined =>
  operator === 'in' || operator === 'not in' ? 'Separated by commas' : HINTS[type ?? '']

interface RuleFormProps {
  readonly rule: RuleText
  readonly shown: RuleCondition
  readonly types: FactTypes
  readonly descriptions: Readonly<Record<string, string>>
  readonly isOfSessions: boolean
  readonly readOnly: boolean
  /** Returns false if the rule can't be written to the document. */
  readonly onRule: (rule: RuleText) => boolean
}

const RuleForm = ({ rule, shown, types, descriptions, isOfSessions, readOnly, onRule }: RuleFormProps) => {
  const [condition, setCondition] = useState(shown)
  const [texts, setTexts] = useState<Partial<RuleText>>({})
  const [refused, setRefused] = useState<string | null>(null)
  const write = (change: Partial<RuleText>): void => {
    setTexts({ ...texts, ...change })
    setRefused(onRule({ ...rule, ...texts, ...change }) ? null : 'Edit this value as text.')
  }
  const turnTo = (next: RuleCondition): void => {
    setCondition(next)
    const expression = renderCondition(next, types)
    if (expression !== null) write({ expression })
  }
  const { fact, operator, value } = condition
  const isValid = renderCondition(condition, types) !== null
  const operators = fact === '' ? (['always'] as const) : operatorsOf(types[fact])
  const chooseFact = (name: string): void => {
    const [first = 'always'] = operatorsOf(types[name])
    const kept = operatorsOf(types[name]).includes(operator) && types[name] === types[fact]
    turnTo(kept ? { ...condition, fact: name } : { fact: name, operator: name === '' ? 'always' : first, value: '' })
  }
  const rejects = rule.kind === 'deny' || rule.kind === 'require'
  const kinds = Object.entries(KINDS).filter(([kind]) => isOfSessions || kind !== 'review')
  return (
    <fieldset class="rule-form" disabled={readOnly}>
      <legend>
        <code>{rule.id}</code>
      </legend>
      <SelectField
        label="Outcome"
        value={rule.kind}
        onValue={(kind) => write({ kind })}
        choices={Object.fromEntries(kinds)}
      />
      <SelectField
        label="Fact"
        value={fact}
        onValue={chooseFact}
        hint={descriptions[fact]}
        choices={{
          '': isOfSessions ? 'Every session' : 'Every request',
          ...Object.fromEntries(Object.keys(types).map((name) => [name, name])),
        }}
      />
      {fact !== '' && (
        <SelectField
          label="Operator"
          value={operator}
          onValue={(next) => turnTo({ ...condition, operator: next as Operator })}
          choices={Object.fromEntries(operators.map((each) => [each, OPERATORS[each]]))}
        />
      )}
      {hasValue(operator) && (
        <TextField
          label="Value"
          value={value}
          onValue={(next) => turnTo({ ...condition, value: next })}
          hint={hintOf(types[fact], operator)}
          error={
            isValid
              ? (refused ?? undefined)
              : `${value === '' ? 'Enter a value.' : 'This value is not valid here.'} The document keeps the earlier condition.`
          }
        />
      )}
      {(rejects || rule.code !== '') && (
        <TextField
          label="Code"
          mono
          value={texts.code ?? rule.code}
          onValue={(code) => write({ code })}
          error={refused ?? undefined}
          optional
        />
      )}
      {(rejects || rule.message !== '') && (
        <TextField
          label="Message"
          value={texts.message ?? rule.message}
          onValue={(message) => write({ message })}
          error={refused ?? undefined}
          optional={!isOfSessions}
        />
      )}
    </fieldset>
  )
}

interface RuleActionsProps {
  readonly index: number
  readonly count: number
  /** Called with the indices of the rules to keep, in their new order. */
  readonly onOrder: (order: readonly number[]) => void
}

const RuleActions = ({ index, count, onOrder }: RuleActionsProps) => {
  const others = [...Array(count).keys()].filter((each) => each !== index)
  const moveTo = (position: number): void => onOrder(others.toSpliced(position, 0, index))
  return (
    <div class="rule-actions">
      <Button small kind="quiet" disabled={index === 0} onClick={() => moveTo(index - 1)}>
        Move up
      </Button>
      <Button small kind="quiet" disabled={index === count - 1} onClick={() => moveTo(index + 1)}>
        Move down
      </Button>
      <Button small kind="quiet" icon="trash" onClick={() => onOrder(others)}>
        Delete rule
      </Button>
    </div>
  )
}

interface RuleBuilderProps {
  readonly source: string
  readonly facts: AnswerOf<'GET /policy-language'>['facts']
  readonly readOnly: boolean
  readonly onSource: (source: string) => void
  readonly onText: (line: number) => void
}

export const RuleBuilder = ({ source, facts, readOnly, onSource, onText }: RuleBuilderProps) => {
  const document = readRules(source)
  const isOfSessions = document?.isOfSessions === true
  const decides = isOfSessions ? 'sessions' : 'requests'
  const readable = facts.filter((each) => each.decides === decides)
  const types = Object.fromEntries(readable.map(({ name, type }) => [name, type]))
  const descriptions = Object.fromEntries(readable.map(({ name, description }) => [name, description]))
  if (document === null) {
    return (
      <Notice tone="warn" title="The document can’t be read">
        <p>Correct the YAML text first.</p>
      </Notice>
    )
  }
  const replace = (text: string | null): boolean => {
    if (text !== null) onSource(text)
    return text !== null
  }
  const { rules } = document
  const used = new Set(rules.map(({ rule }) => rule?.id))
  let number = rules.length + 1
  while (used.has(`rule-${number}`)) number += 1
  const id = `rule-${number}`
  const added = addRule(source, {
    id,
    kind: isOfSessions ? 'review' : 'deny',
    expression: 'true',
    code: '',
    message: '',
  })
  /** Opens the text if only an editor can make the change. */
  const arrange = (order: readonly number[], line: number): void => {
    if (!replace(arrangeRules(source, order))) onText(line)
  }
  return (
    <Card title="Rules" text="The first rule that matches decides. Every change appears in the document text.">
      <ol class="rule-forms">
        {rules.map(({ rule, line }, index) => {
          const shown = rule === null ? null : parseCondition(rule.expression, types)
          return (
            <li key={rule?.id ?? line}>
              {rule !== null && shown !== null ? (
                <RuleForm
                  rule={rule}
                  shown={shown}
                  types={types}
                  descriptions={descriptions}
                  isOfSessions={isOfSessions}
                  readOnly={readOnly}
                  onRule={(next) => replace(changeRule(source, index, next))}
                />
              ) : (
                <div class="rule-text">
                  <code>{rule === null ? `Line ${line}` : rule.id}</code>
                  {rule !== null && (
                    <p>
                      {KINDS[rule.kind as keyof typeof KINDS]} if <code>{rule.expression}</code>
                    </p>
                  )}
                  <Button small icon="code" onClick={() => onText(line)}>
                    Edit as text
                  </Button>
                </div>
              )}
              {!readOnly && (
                <RuleActions index={index} count={rules.length} onOrder={(order) => arrange(order, line)} />
              )}
            </li>
          )
        })}
      </ol>
      {!readOnly && added !== null && (
        <Button icon="plus" onClick={() => replace(added)}>
          Add rule
        </Button>
      )}
    </Card>
  )
}
