// Who asks, why, and what it takes: before anything is given.
import { shortAddress } from '../format.ts'
import { useMessages } from '../language.ts'
import { partsOf } from '../steps.ts'
import { type IconName, ItemWithIcon } from '../ui/icons.tsx'
import { Notice, Screen } from '../ui/parts.tsx'
import { StepActions } from '../ui/step-actions.tsx'
import type { StepProps } from './step-props.ts'

export const Welcome = ({ view, next }: StepProps) => {
  const { welcome, partsInline, common } = useMessages()
  const { checkType, organization, origin, lockedWallet } = view
  const list = (step: 'details' | 'documents'): string =>
    common.listOf(partsOf(view, step).map((part) => partsInline[part]))
  const documents = list('documents')
  const who: IconName = checkType === 'kyc' ? 'person' : 'building'
  return (
    <Screen
      title={welcome.title[checkType](organization.name)}
      lead={welcome.why[checkType](organization.name)}
      pinned={false}
      actions={
        <StepActions back={null} onNext={() => next()}>
          {welcome.start}
        </StepActions>
      }
    >
      <section class="card" aria-labelledby="you-will">
        <h2 id="you-will">{welcome.youWill}</h2>
        <ol class="items">
          <ItemWithIcon icon="wallet" title={lockedWallet === null ? welcome.wallets : welcome.walletLocked}>
            {lockedWallet === null ? welcome.walletsText : welcome.walletLockedText(shortAddress(lockedWallet))}
          </ItemWithIcon>
          <ItemWithIcon icon={who} title={welcome.details[checkType]}>
            {welcome.detailsText(list('details'))}
          </ItemWithIcon>
          {documents !== '' && (
            <ItemWithIcon icon="camera" title={welcome.documents}>
              {welcome.documentsText(documents)}
            </ItemWithIcon>
          )}
          <ItemWithIcon icon="clock" title={welcome.wait}>
            {welcome.waitText}
          </ItemWithIcon>
        </ol>
      </section>
      <p class="aside-note">
        {welcome.minutes} {origin !== null && welcome.sentBy(origin.host)}
      </p>
      <Notice icon="shield" title={welcome.notExpected}>
        <p>{welcome.notExpectedText(organization.name)}</p>
      </Notice>
    </Screen>
  )
}
