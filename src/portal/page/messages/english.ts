// English texts. Other languages must have the same keys, which the compiler checks.
import type { SessionPart } from '../../../domain/requirements.ts'

const number = new Intl.NumberFormat('en-GB').format

const plural = (count: number, one: string, other: string): string => `${number(count)} ${count === 1 ? one : other}`

const parts: Readonly<Record<SessionPart, string>> = {
  fullName: 'Full name',
  birthDate: 'Date of birth',
  country: 'Country',
  registeredName: 'Registered name',
  registrationNumber: 'Registration number',
  owners: 'Owners',
  'identity-document': 'Identity document',
  portrait: 'Photo of you',
  'proof-of-address': 'Proof of address',
  'registration-document': 'Registration document',
  wallets: 'Wallets',
}

/** For use within a sentence. */
const partsInline: Readonly<Record<SessionPart, string>> = {
  fullName: 'full name',
  birthDate: 'date of birth',
  country: 'country',
  registeredName: 'registered name',
  registrationNumber: 'registration number',
  owners: 'owners',
  'identity-document': 'identity document',
  portrait: 'photo of you',
  'proof-of-address': 'proof of address',
  'registration-document': 'registration document',
  wallets: 'wallets',
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const english = {
  locale: 'en-GB',

  common: {
    continue: 'Continue',
    back: 'Back',
    cancel: 'Cancel',
    close: 'Close',
    change: 'Change',
    remove: 'Remove',
    tryAgain: 'Try again',
    copy: 'Copy',
    copied: 'Copied',
    loading: 'Loading',
    language: 'Language',
    skipToContent: 'Skip to content',
    verification: 'Identity verification',
    testSession: 'Test session. Nothing here is real: use made-up details.',
    stepOf: (step: number, steps: number) => `Step ${number(step)} of ${number(steps)}`,
    steps: 'Steps',
    done: 'done',
    current: 'current step',
    privacy: (organization: string) => `Privacy policy of ${organization}`,
    support: (organization: string, address: string) => `Questions? Contact ${organization}: ${address}`,
    runBy: (host: string) => `Verification page at ${host}`,
    listOf: (items: readonly string[]) => new Intl.ListFormat('en-GB').format(items),
  },

  steps: {
    welcome: 'Welcome',
    consent: 'Your consent',
    wallets: 'Wallets',
    details: 'Details',
    documents: 'Documents',
    review: 'Review',
    outcome: 'Result',
  },

  parts,
  partsInline,

  welcome: {
    title: {
      kyc: (organization: string) => `${organization} asks you to verify your identity`,
      kyb: (organization: string) => `${organization} asks you to verify your business`,
    },
    why: {
      kyc: (organization: string) =>
        `${organization} must verify its customers before they can use its services. You do this only once, and ${organization} receives the result.`,
      kyb: (organization: string) =>
        `${organization} must verify the businesses it works with before they can use its services. You do this only once, and ${organization} receives the result.`,
    },
    sentBy: (host: string) => `Afterwards, you return to ${host}.`,
    youWill: 'What you will do',
    minutes: 'This takes about five minutes. You can pause and come back: your entries are saved.',
    wallets: 'Connect your wallets',
    walletsText: 'Sign a message to prove that they are yours. It costs nothing and moves no funds.',
    walletLocked: 'Connect your wallet',
    walletLockedText: (address: string) => `Only the wallet ${address} can be used for this verification.`,
    details: { kyc: 'Tell us about yourself', kyb: 'Tell us about the business' },
    detailsText: (items: string) => `${sentence(items)}.`,
    documents: 'Submit your documents',
    documentsText: (items: string) => `${sentence(items)}. A photo taken with your phone is fine.`,
    wait: 'Get your result',
    waitText: 'This page shows the result as soon as it is available.',
    waitUsual: (time: string) => `The review usually takes about ${time}.`,
    says: (organization: string) => `Message from ${organization}`,
    notExpected: 'Did someone else send you this link?',
    notExpectedText: (organization: string) =>
      `Continue only if you are a customer of ${organization}, or want to become one. Neither ${organization} nor this page will ever ask you for a recovery phrase or a private key.`,
    start: 'Start',
  },

  consent: {
    title: 'Before you begin',
    lead: (organization: string) => `Please read how ${organization} uses your data, and decide whether you agree.`,
    collected: 'Collected data',
    collectedText: (items: string) =>
      `Your ${items}; your wallet addresses; and the signatures that prove they are yours.`,
    seen: 'Who sees it',
    seenText: (organization: string) =>
      `Reviewers at ${organization}, and this service, which works for ${organization}. Documents are stored encrypted, and every access is recorded.`,
    used: 'Purpose',
    usedText: (organization: string) =>
      `To verify your identity and that the wallets are yours, as the law requires of ${organization}. Your data is not used for anything else.`,
    kept: 'How long it is kept',
    keptText: (organization: string, completed: string, rejected: string, abandoned: string) =>
      `${completed} after you are verified, ${rejected} after a rejection, or ${abandoned} after your last step if you do not finish. Then it is erased. You can ask ${organization} for access, correction or erasure.`,
    shareTitle: 'May other organizations rely on the result?',
    shareText:
      'Other organizations that use this service could then see that your wallets are verified. They do not see your details or documents.',
    shareYes: 'Yes, so that I do not have to verify again elsewhere',
    shareNo: (organization: string) => `No, only ${organization}`,
    shareMissing: 'Please choose one of the two.',
    agree: 'I agree, continue',
    disagree: 'I do not agree',
    disagreeTitle: 'You did not agree',
    disagreeText: (organization: string) =>
      `Nothing was collected. You can close this page, or read the text again and agree later. ${organization} sees only that you did not finish the verification.`,
    version: (version: string) => `Text version ${version}`,
  },

  wallets: {
    title: 'Connect your wallets',
    titleLocked: 'Connect your wallet',
    lead: (maximum: number) =>
      `Add each wallet that you want to use, up to ${number(maximum)}, on any chain. You can add the same wallet on several chains.`,
    leadLocked: 'This verification is for one wallet. No other wallet is accepted.',
    lockedWallet: 'Wallet to connect',
    connected: 'Connected',
    count: (count: number, maximum: number) => `${number(count)} of ${number(maximum)}`,
    full: (maximum: number) =>
      maximum === 1
        ? 'You can connect only one wallet. Remove it to connect another.'
        : `You can connect at most ${number(maximum)} wallets. Remove one to connect another.`,
    add: 'Add a wallet',
    addAnother: 'Add another wallet',
    inBrowser: 'In this browser',
    searching: 'Looking for wallets in this browser',
    noneFound: 'No wallet was found in this browser.',
    noWalletConnect:
      'WalletConnect is not used here, because it would send data through another company’s servers. You can connect any wallet in one of these ways:',
    openIn: 'Open this page in your wallet app',
    openInText: 'Your wallet app has its own browser. The page opens there, and you continue at this step.',
    opening: 'If nothing happens, the app is not installed on this phone.',
    openInReady: (name: string) => `Open in ${name}`,
    onPhone: 'Use a wallet on my phone',
    onPhoneText: 'Scan this code with your phone. The page opens there, and you continue at this step.',
    onPhoneExpires: 'The code works once and expires after ten minutes.',
    onPhoneAlt: 'QR code with a link to this verification',
    byHand: 'Sign by hand',
    byHandText: 'For hardware wallets, contract wallets, and wallets on another device.',
    connectWith: (name: string) => `Connect ${name}`,
    waiting: (name: string) => `Waiting for ${name}. Check its window.`,
    account: 'Account',
    chain: 'Chain',
    chainOther: (chainId: number) => `Chain ${chainId}`,
    sign: (name: string) => `Sign with ${name}`,
    signing: (name: string) => `Sign the message in ${name}`,
    signText: 'Signing proves that the wallet is yours. It costs nothing and moves no funds.',
    checking: 'Checking the signature',
    added: (address: string, chain: string) => `${address} on ${chain} is connected.`,
    already: 'Already connected',
    removed: 'The wallet was removed.',
    removeLabel: (address: string, chain: string) => `Remove ${address} on ${chain}`,
    copyAddress: 'Copy address',
    noAccounts: 'The wallet has not shared an account with this page. Choose one in the wallet, then try again.',
    wrongAccount: (address: string) =>
      `This verification is only for ${address}. Choose that account in your wallet, then try again.`,
    needOne: 'Connect at least one wallet to continue.',
    needLocked: 'Connect this wallet to continue.',
  },

  manual: {
    title: 'Sign by hand',
    address: 'Wallet address',
    addressHint: 'Starts with 0x, or a Solana address.',
    chain: 'Chain',
    getMessage: 'Show the message to sign',
    messageText: 'Copy the whole text, sign it with the wallet as a personal message, and paste the signature below.',
    message: 'Message to sign',
    expires: (minutes: number) =>
      `The message expires in ${plural(minutes, 'minute', 'minutes')}, and works only once.`,
    signature: 'Signature',
    signatureHint: { evm: 'Starts with 0x.', solana: 'Base58, or hex that starts with 0x.' },
    check: 'Check signature',
    contract: (chains: string) => `Contract wallets, such as a Safe, can be checked on ${chains}.`,
    noContract:
      'Contract wallets, such as a Safe, cannot be checked here: this service has no connection to their chains.',
    startOver: 'Use another address',
  },

  details: {
    title: { kyc: 'About you', kyb: 'About the business' },
    lead: { kyc: 'As shown on your passport or identity card.', kyb: 'As shown in the register.' },
    fill: 'Fill in from a photo of my passport or card',
    fillHint:
      'Photograph the side with the lines of < characters along its edge. The photo is read on this device and is not sent.',
    fillReading: 'Reading…',
    fillRead: 'Filled in. Please compare every letter with your document.',
    fillUnread: 'The lines could not be read. Try a sharper photo, or enter the details yourself.',
    fullName: 'Full name',
    fullNameHint: 'All given names and family names.',
    birthDate: 'Date of birth',
    day: 'Day',
    month: 'Month',
    year: 'Year',
    country: 'Country',
    countryHint: { kyc: 'Where you live.', kyb: 'Where it is registered.' },
    countryChoose: 'Choose a country',
    registeredName: 'Registered name',
    registeredNameHint: 'Including the legal form.',
    registrationNumber: 'Registration number',
    registrationNumberHint: 'In the commercial or company register.',
    owners: 'Owners',
    ownersHint: 'Everyone who holds 25 percent or more.',
    owner: (index: number) => `Owner ${number(index)}`,
    ownerName: 'Name',
    ownerShare: 'Share in percent',
    addOwner: 'Add an owner',
    removeOwner: (index: number) => `Remove owner ${number(index)}`,
    sum: (percent: number) => `${number(percent)} percent in total`,
    problems: (count: number) => `Please correct ${plural(count, 'entry', 'entries')}:`,
    nameMissing: 'Enter the name.',
    nameLong: 'Use at most 200 characters.',
    characters: 'Remove characters that cannot be printed.',
    dateMissing: 'Enter the day, month and year.',
    dateInvalid: 'This date does not exist.',
    dateFuture: 'This date is in the future.',
    dateOld: 'This date is too far in the past.',
    countryMissing: 'Choose a country.',
    numberMissing: 'Enter the registration number.',
    numberLong: 'Use at most 64 characters.',
    ownersMissing: 'Add at least one owner.',
    shareInvalid: 'Enter a whole percentage from 1 to 100.',
    sharesOver: 'The shares add up to more than 100 percent.',
  },

  documents: {
    title: 'Your documents',
    titleBusiness: 'Business documents',
    lead: 'Take a photo or choose a file. Everything is encrypted in transit and in storage.',
    limits: (formats: string, megabytes: number) => `${formats}, at most ${number(megabytes)} MB each.`,
    image: 'JPEG, PNG or WebP',
    imageOrPdf: 'JPEG, PNG, WebP or PDF',
    guidance: {
      'identity-document': 'Passport, identity card or residence permit. For a card, both sides.',
      portrait: 'Your face from the front, well lit, without sunglasses or a hat.',
      'proof-of-address':
        'A bill, a bank statement or an official letter from the last three months with your name and address.',
      'registration-document': 'A current extract from the register, or the certificate of incorporation.',
    },
    tips: {
      'identity-document': ['All four corners visible', 'Nothing blurred or covered', 'No glare'],
      portrait: ['Face the light', 'Look at the camera', 'Nobody else in the picture'],
      'proof-of-address': ['The whole page', 'Name, address and date readable'],
      'registration-document': ['All pages', 'No older than three months'],
    },
    takePhoto: 'Take a photo',
    chooseFile: 'Choose a file',
    addPage: 'Add a page or side',
    replace: 'Replace',
    drop: 'or drop a file here',
    given: 'Received',
    needed: 'Still needed',
    again: 'Please send again',
    preparing: 'Preparing the picture',
    uploading: (percent: number) => `Sending: ${number(percent)} percent`,
    checking: 'Checking and encrypting',
    paused: 'Interrupted. The upload continues when you are back online.',
    stopUpload: 'Stop',
    removeLabel: (name: string) => `Remove ${name}`,
    received: (name: string) => `${name} was received.`,
    removed: (name: string) => `${name} was removed.`,
    full: (maximum: number) =>
      maximum === 1
        ? 'You can add only one file. Remove it to add another.'
        : `You can add at most ${number(maximum)} files. Remove one to add another.`,
    tooLarge: (megabytes: number) =>
      `This file is larger than ${number(megabytes)} MB. Choose a smaller one or take a photo.`,
    wrongType: (formats: string) => `This type of file is not supported. Use ${formats}.`,
    infected: 'The virus scanner found a threat in this file. Take a photo of the document instead.',
    unreadable: 'This file seems damaged. Choose another one or take a photo.',
    empty: 'This file is empty.',
    busy: 'Many people are sending documents right now. Try again in a moment.',
    wait: 'Please wait until all uploads finish, or stop the ones you do not need.',
    missing: (items: string) => `Still needed: ${items}.`,
    phoneText: 'Continue on your phone and take the photos there.',
    phoneAction: 'Continue on my phone',
  },

  camera: {
    title: 'Take a photo',
    starting: 'Starting the camera',
    hold: 'Hold the document inside the frame.',
    face: 'Center your face in the oval.',
    shoot: 'Take photo',
    again: 'Retake',
    use: 'Use this photo',
    sharp: 'Is everything sharp and readable?',
    preview: 'The photo you just took',
    refused: 'The browser blocked the camera. Allow it in the address bar, or choose a file.',
    missing: 'No camera was found. Choose a file instead.',
    turn: 'Switch camera',
  },

  review: {
    title: 'Check and send',
    lead: (organization: string) => `Check the data for ${organization}. You cannot change it after sending.`,
    wallets: 'Wallets',
    details: 'Details',
    documents: 'Documents',
    sharing: 'Other organizations',
    sharesYes: 'May rely on the result.',
    sharesNo: (organization: string) => `May not rely on the result: it is only for ${organization}.`,
    share: (percent: number) => `${number(percent)} percent`,
    changeLabel: (what: string) => `Change: ${what}`,
    missing: 'Something is still missing:',
    submit: (organization: string) => `Send to ${organization}`,
    submitting: 'Sending',
    truth: 'By sending, you confirm that everything is true and your own.',
  },

  outcome: {
    completedTitle: 'You are verified',
    completedTitleBusiness: 'The business is verified',
    completedText: (organization: string) => `${organization} has been notified. There is nothing more to do here.`,
    completedWallets: 'Verified wallets',
    submittedTitle: 'In review',
    submittedText: (organization: string) =>
      `Your submission has arrived and ${organization} is reviewing it. This can take some time.`,
    submittedNote: 'You are not verified yet',
    submittedNoteText: (organization: string) =>
      `Until the review is complete, ${organization} does not treat your wallets as verified.`,
    submittedFollow: 'You can leave this page open: it updates automatically. Or come back later with the same link.',
    rejectedTitle: 'The verification was rejected',
    rejectedText: (organization: string) =>
      `This decision is final for this verification. If you think it is a mistake, please contact ${organization}.`,
    retryTitle: 'Please review your submission',
    retryText: (organization: string) => `${organization} could not complete the review. You can fix this.`,
    retryOnly: 'You only need to redo this:',
    retryAll: 'Please go through your entries, correct any mistakes, and send them again.',
    retryStart: 'Make corrections',
    comment: (organization: string) => `Message from ${organization}`,
    noComment: 'No reason was given.',
    goBack: (host: string) => `Back to ${host}`,
    timeline: 'What happens next',
    timelineSent: 'Sent',
    timelineReview: 'In review',
    timelineResult: 'Result',
  },

  elsewhere: {
    title: 'This verification was started in another browser',
    text: (organization: string) =>
      `For your protection, your verification${organization === '' ? '' : ` for ${organization}`} opens only in the browser where you started it.`,
    first: 'If that was you',
    firstText:
      'Go back to the browser where you started. On a computer, the “Wallets” step has a code for continuing on your phone.',
    wallet: 'Continue here with your wallet',
    walletText:
      'Sign with the wallet that this verification is for, or with a wallet that you have connected. The verification moves to this browser and ends in the other one.',
    notYou: 'If it was not you',
    notYouText: (organization: string) =>
      `Sign below with your wallet: the other browser then loses access. Or ask ${organization === '' ? 'the sender of the link' : organization} for a new link, and do not share it.`,
  },

  leave: {
    button: 'Leave this device',
    title: 'Leave this device?',
    text: 'Afterwards, nobody can open your verification in this browser. Data that you have sent is kept; entries that you have not sent are deleted.',
    goOn: (organization: string) =>
      `To continue elsewhere, open your link there and sign with a wallet that you have connected, or ask ${organization} for a new link.`,
    action: 'Leave this device',
    failed: 'This browser can still open your verification',
    leftTitle: 'You have left this device',
    leftText: 'This browser can no longer open your verification. You can close this page.',
    leftDo:
      'To continue, open your link on your own device and sign with a wallet that you have connected, or ask for a new link.',
  },

  problems: {
    noLinkTitle: 'Open this page with your link',
    noLinkText:
      'A verification opens only with the link that you were sent, in the browser where you first opened it. The address of this page alone is not enough.',
    noLinkDo: 'Open the link again, or scan the QR code again. If that does not help, ask for a new link.',
    deadLinkTitle: 'This link does not work',
    deadLinkText: 'It is incomplete, or a newer link has replaced it.',
    deadLinkDo: 'Copy the whole link, or ask the sender for a new one.',
    nothingTitle: 'There is nothing here',
    nothingText: 'This is the verification page of a service. It has no front page.',
    nothingDo: 'To verify, use the link or the QR code that you were given.',
    wrongHostTitle: 'Please use the other address',
    wrongHostText: (url: string) => `Open this page at ${url}.`,
    brokenTitle: 'Something went wrong',
    brokenText: 'That should not have happened, and it is not your fault. Your earlier entries are safe.',
    reload: 'Reload the page',
    offline: 'You are offline. Your entries are safe; the page continues when you are back online.',
    requestId: (id: string) => `For support: ${id}`,
  },

  errors: {
    network: 'No connection right now. Nothing was lost: try again.',
    general: 'That did not work. Please try again.',
    busy: 'The service is busy. Try again in a moment.',
    late: 'That took too long. Please try again.',
    proof: 'The signature does not match the wallet or the message, or the message is too old. Please sign again.',
    refused: (wallet: string) => `You declined the request in ${wallet}. Nothing has changed; try again at any time.`,
    walletFailed: (wallet: string) => `${wallet} reported a problem. Unlock it, and try again.`,
    locked: 'This verification is for a different wallet and accepts only that one.',
    limit: (maximum: number) => `You can connect at most ${plural(maximum, 'wallet', 'wallets')}.`,
    closed: 'This verification has changed in the meantime.',
    notRequested: 'This was not sent back to you, so you cannot change it.',
    address: 'This is not a wallet address.',
    addressChecksum: 'This address has a typing error. Copy it from the wallet.',
    addressMissing: 'Enter the address of the wallet.',
    signatureMissing: 'Paste the signature.',
    notConnected: 'This wallet is not connected to this verification.',
    chain: 'The wallet’s chain is not available right now. Try again in a moment.',
    outdated: 'The text has changed. Please read it again.',
    incomplete: 'Something is still missing.',
    originForeign: 'Open this page at its own address, and try again.',
  },
}

export type Messages = typeof english
