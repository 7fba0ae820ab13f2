// Position of a decision in the hash chain of the log. The browser hashes the line again.
import { useEffect, useState } from 'preact/hooks'
import type { DecisionProof } from '../api/types.ts'
import { useModuleParts } from '../module-pages.ts'
import { CodeBlock, Copyable } from '../ui/copy.tsx'
import { Icon } from '../ui/icons.tsx'
import { Card, Facts } from '../ui/parts.tsx'
import { Notice, Problem } from '../ui/problem.tsx'

type Check = 'right' | 'wrong' | 'impossible' | null

/** Hashes the received line, which browsers support only over https and on localhost. */
const useOwnCheck = ({ line, hash }: DecisionProof): Check => {
  const [check, setCheck] = useState<Check>(null)
  useEffect(() => {
    let gone = false
    const run = async (): Promise<Check> => {
      if (!window.isSecureContext) return 'impossible'
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(line))
      const own = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
      return own === hash ? 'right' : 'wrong'
    }
    run().then(
      (found) => {
        if (!gone) setCheck(found)
      },
      () => {
        if (!gone) setCheck('impossible')
      },
    )
    return () => {
      gone = true
    }
  }, [line, hash])
  return check
}

interface LinkProps {
  readonly title: string
  readonly hash: string | null
  readonly current?: boolean
  readonly text: string
  readonly holds: boolean | null
}

const ChainLink = ({ title, hash, current = false, text, holds }: LinkProps) => (
  <li class={`link${current ? ' link-current' : ''}`}>
    <span class={`link-mark link-${holds === null ? 'open' : holds ? 'holds' : 'broken'}`}>
      {holds !== null && <Icon name={holds ? 'check' : 'cross'} size={14} />}
    </span>
    <div>
      <p>
        <strong>{title}</strong> <span class="soft">{text}</span>
      </p>
      {hash !== null && <Copyable text={hash} label={`hash of ${title.toLowerCase()}`} />}
    </div>
  </li>
)

const CHECK_TEXT: Readonly<Record<NonNullable<Check>, string>> = {
  right: 'verified in this browser',
  wrong: 'differs from the hash computed in this browser',
  impossible: 'as reported by the service; a browser can verify it only over HTTPS',
}

export const Proof = ({ proof, uuid }: { readonly proof: DecisionProof; readonly uuid: string }) => {
  const check = useOwnCheck(proof)
  const ofModules = useModuleParts('decision')
  const { slot, segment, offset, length, hash, previous_hash, previous_matches, next_matches } = proof
  const broken = !previous_matches || next_matches === false || check === 'wrong'
  return (
    <Card title="Position in the log" text="Changing a line breaks the chain after it.">
      {broken && (
        <Notice tone="bad" title="The chain is broken here" urgent>
          <p>
            This line or an adjacent line was changed after the decision. Verify the whole log, and compare it with a
            backup.
          </p>
        </Notice>
      )}
      <ol class="chain">
        <ChainLink
          title="Previous line"
          hash={previous_hash}
          holds={previous_matches}
          text={
            previous_matches ? 'matches the previous hash in this line' : 'differs from the previous hash in this line'
          }
        />
        <ChainLink
          current
          title="This line"
          hash={hash}
          holds={check === null ? null : check !== 'wrong'}
          text={check === null ? '' : CHECK_TEXT[check]}
        />
        <ChainLink
          title="Next line"
          hash={null}
          holds={next_matches}
          text={
            next_matches === null
              ? 'not written yet: this is the newest line of its file'
              : next_matches
                ? 'contains the hash of this line'
                : 'contains a different hash'
          }
        />
      </ol>
      <Facts
        items={[
          ['File', <Copyable key="file" text={`decisions/${slot}/${segment}`} label="file" />],
          ['Bytes', `${offset.toLocaleString('en')} to ${(offset + length).toLocaleString('en')}`],
        ]}
      />
      {ofModules.value?.map((Part, index) => (
        <Part key={index} uuid={uuid} />
      ))}
      <Problem error={ofModules.error} retry={ofModules.reload} />
      <details class="proof">
        <summary>Verify this line in the data folder</summary>
        <CodeBlock
          label="command"
          code={`tail -c +${offset + 1} 'decisions/${slot}/${segment}' | head -c ${length} | sha256sum`}
        />
        <p class="soft">
          The command prints the hash of this line. <code>countersign decisions verify</code> checks every line of the
          log.
        </p>
      </details>
      {proof.line !== '' && (
        <details class="proof">
          <summary>Raw line</summary>
          <CodeBlock label="line" code={proof.line} />
        </details>
      )}
    </Card>
  )
}
