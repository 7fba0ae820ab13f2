import { formatWait } from '../../../pages/lengths.ts'
import { LANGUAGES } from '../../contract.ts'
import { shortAddress } from '../format.ts'
import { useSpeech } from '../language.ts'
import { partsOf, type StepProps } from '../steps.ts'
import { type IconName, ItemWithIcon } from '../ui/icons.tsx'
import { Notice, Screen } from '../ui/parts.tsx'
import { StepActions } from '../ui/step-actions.tsx'

export const Welcome = ({ view, next }: StepProps) => {
  const { messages, language } = useSpeech()
  const { welcome, partsInline, common, locale } = messages
  const { checkType, organization, origin, lockedWallet } = view
  const { usualWaitSeconds: wait } = organization
  const words = organization.words[language] ?? LANGUAGES.map((known) => organization.words[known]).find(Boolean)
  const list = (step: 'details' | 'documents'): string =>
    common.listOf(partsOf(view, step).map((part) => partsInline[part]))
  const documents = list('documents')
  const who: IconName = checkType === 'kyc' ? 'person' : 'building'
  return (
    <Screen
      title={welcome.title[checkType](organization.name)}
      lead={welcome.why[checkType](organization.name)}
      actions={
        <StepActions back={null} onNext={() => next()}>
          {welcome.start}
        </StepActions>
      }
    >
      <Notice icon="shield" title={welcome.notExpected}>
        <p>{welcome.notExpectedText(organization.name)}</p>
      </Notice>
      {words && (
        <figure class="comment">
          <figcaption>{welcome.says(organization.name)}</figcaption>
          <blockquote dir="auto">{words}</blockquote>
        </figure>
      )}
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
            {welcome.waitText} {wait !== null && welcome.waitUsual(formatWait(wait, locale))}
          </ItemWithIcon>
        </ol>
      </section>
      <p class="aside-note">
        {welcome.minutes} {origin !== null && welcome.sentBy(origin.host)}
      </p>
    </Screen>
  )
}
