// English texts of the page. Every other language has the same keys, which the compiler checks.
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

/** Names of the parts within a sentence. */
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

/** Capitalizes a list at the beginning of a sentence. */
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
    skipToContent: 'Skip to the content',
    verification: 'Identity verification',
    testSession: 'Test session. Nothing here is real: use made-up details.',
    stepOf: (step: number, steps: number) => `Step ${number(step)} of ${number(steps)}`,
    steps: 'Steps',
    done: 'done',
    current: 'current step',
    privacy: (organization: string) => `Privacy at ${organization}`,
    support: (organization: string, address: string) => `Questions to ${organization}: ${address}`,
    runBy: (host: string) => `Verification page at ${host}`,
    listOf: (items: readonly string[]) => new Intl.ListFormat('en-GB').format(items),
  },

  steps: {
    welcome: 'Welcome',
    consent: 'Your agreement',
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
        `${organization} has to know who its customers are before they can use its services. You do this once, here, and ${organization} hears the result.`,
      kyb: (organization: string) =>
        `${organization} has to know which businesses it deals with before they can use its services. You do this once, here, and ${organization} hears the result.`,
    },
    sentBy: (host: string) => `Afterwards you go back to ${host}.`,
    youWill: 'What you will do',
    minutes: 'About five minutes. You can stop and come back: nothing you entered is lost.',
    wallets: 'Connect your wallets',
    walletsText: 'You show that they are yours by signing a message. It costs nothing and moves no funds.',
    walletLocked: 'Connect your wallet',
    walletLockedText: (address: string) => `Only the wallet ${address} can be used for this verification.`,
    details: { kyc: 'Tell us about yourself', kyb: 'Tell us about the business' },
    detailsText: (items: string) => `${sentence(items)}.`,
    documents: 'Show your documents',
    documentsText: (items: string) => `${sentence(items)}. A photo taken with your phone is fine.`,
    wait: 'Hear the result',
    waitText: 'Right away, or after someone has looked at it. This page tells you either way.',
    waitUsual: (time: string) => `This usually takes about ${time}.`,
    says: (organization: string) => `${organization} writes`,
    notExpected: 'Did someone else send you this link?',
    notExpectedText: (organization: string) =>
      `Continue only if you are a customer of ${organization}, or want to be. Nobody from ${organization} will ask you for a recovery phrase or a private key, and this page never does.`,
    start: 'Start',
  },

  consent: {
    title: 'Before you begin',
    lead: (organization: string) => `Please read what happens with what you give. You decide; ${organization} waits.`,
    collected: 'What is collected',
    collectedText: (items: string) =>
      `Your ${items}; your wallet addresses; and the signatures that show they are yours.`,
    seen: 'Who sees it',
    seenText: (organization: string) =>
      `The people at ${organization} who check it, and this service, which works for ${organization}. Documents are stored encrypted, and every look at them is recorded.`,
    used: 'What it is for',
    usedText: (organization: string) =>
      `To confirm who you are and that the wallets are yours, as the law asks of ${organization}. For nothing else.`,
    kept: 'How long it is kept',
    keptText: (organization: string, completed: string, rejected: string, abandoned: string) =>
      `${completed} after you are verified, ${rejected} after a refusal, or ${abandoned} after your last step if you do not finish. Then it is destroyed. Ask ${organization} to see, correct or erase it.`,
    shareTitle: 'May other organizations rely on the result?',
    shareText:
      'Other organizations that use this service could then see that your wallets are verified. They do not see your details or documents.',
    shareYes: 'Yes, so that I need not verify again elsewhere',
    shareNo: (organization: string) => `No, only ${organization}`,
    shareMissing: 'Please choose one of the two.',
    agree: 'I agree, continue',
    disagree: 'I do not agree',
    disagreeTitle: 'Then it ends here',
    disagreeText: (organization: string) =>
      `Nothing was collected. You can close this page, or read it again and agree later. ${organization} only sees that the verification was not finished.`,
    version: (version: string) => `Text version ${version}`,
  },

  wallets: {
    title: 'Connect your wallets',
    titleLocked: 'Connect your wallet',
    lead: (maximum: number) =>
      `Add each wallet that you want to use, up to ${number(maximum)}, on any chains. The same wallet can be added for several chains.`,
    leadLocked: 'This verification is for one wallet. No other wallet is accepted.',
    lockedWallet: 'The wallet to connect',
    connected: 'Connected',
    count: (count: number, maximum: number) => `${number(count)} of ${number(maximum)}`,
    full: (maximum: number) =>
      maximum === 1
        ? 'Only one wallet is possible. Remove it to add another.'
        : `No more than ${number(maximum)} wallets are possible. Remove one to add another.`,
    add: 'Add a wallet',
    addAnother: 'Add another wallet',
    inBrowser: 'In this browser',
    searching: 'Looking for wallets in this browser',
    noneFound: 'No wallet was found in this browser.',
    noWalletConnect:
      'WalletConnect is not used here, because it would pass through another company’s servers. Any wallet can be connected in one of these ways:',
    openIn: 'Open this page in your wallet app',
    openInText: 'Your wallet has a browser of its own. The page opens there, and you go on where you are.',
    opening: 'If nothing happens, the app is not installed on this phone.',
    openInReady: (name: string) => `Open in ${name}`,
    onPhone: 'Use a wallet on my phone',
    onPhoneText: 'Scan this code with your phone. The page opens there, and you go on where you are.',
    onPhoneExpires: 'The code works once, for ten minutes.',
    onPhoneAlt: 'QR code with a link to this verification',
    byHand: 'Sign by hand',
    byHandText: 'For hardware wallets, contract wallets, and wallets on another device.',
    connectWith: (name: string) => `Connect ${name}`,
    waiting: (name: string) => `Waiting for ${name}. Look for its window.`,
    account: 'Account',
    chain: 'Chain',
    chainOther: (chainId: number) => `Chain ${chainId}`,
    sign: (name: string) => `Sign with ${name}`,
    signing: (name: string) => `Sign the message in ${name}`,
    signText: 'Signing shows that the wallet is yours. It costs nothing and moves no funds.',
    checking: 'Checking the signature',
    added: (address: string, chain: string) => `${address} on ${chain} is connected.`,
    already: 'Connected already',
    removed: 'The wallet was removed.',
    removeLabel: (address: string, chain: string) => `Remove ${address} on ${chain}`,
    copyAddress: 'Copy the address',
    noAccounts: 'The wallet shares no account with this page. Choose one in the wallet, then try again.',
    wrongAccount: (address: string) =>
      `This verification is for ${address} alone. Choose that account in your wallet, then try again.`,
    needOne: 'Connect at least one wallet to go on.',
    needLocked: 'Connect this wallet to go on.',
  },

  manual: {
    title: 'Sign by hand',
    address: 'Wallet address',
    addressHint: 'Starts with 0x, or a Solana address.',
    chain: 'Chain',
    getMessage: 'Show the message to sign',
    messageText: 'Copy the whole text, sign it with the wallet as a personal message, and paste the signature below.',
    message: 'Message to sign',
    expires: (minutes: number) => `The message can be used for ${plural(minutes, 'minute', 'minutes')}, once.`,
    signature: 'Signature',
    signatureHint: { evm: 'Starts with 0x.', solana: 'Base58, or hex that starts with 0x.' },
    check: 'Check the signature',
    contract: (chains: string) => `Contract wallets, such as a Safe, can be checked on ${chains}.`,
    noContract:
      'Contract wallets, such as a Safe, cannot be checked here: this service has no connection to their chains.',
    startOver: 'Use another address',
  },

  details: {
    title: { kyc: 'About you', kyb: 'About the business' },
    lead: { kyc: 'As it is written in your passport or identity card.', kyb: 'As it is written in the register.' },
    fill: 'Fill in from a photo of my passport or card',
    fillHint:
      'Photograph the side with the lines of < along its edge. The photo is read on this device and is not sent.',
    fillReading: 'Reading…',
    fillRead: 'Filled in. Please compare every letter with your document.',
    fillUnread: 'The lines could not be read. Try a sharper photo, or type the details in.',
    fullName: 'Full name',
    fullNameHint: 'All first names and family names.',
    birthDate: 'Date of birth',
    day: 'Day',
    month: 'Month',
    year: 'Year',
    country: 'Country',
    countryHint: { kyc: 'Where you live.', kyb: 'Where it is registered.' },
    countryChoose: 'Choose a country',
    registeredName: 'Registered name',
    registeredNameHint: 'With its legal form.',
    registrationNumber: 'Registration number',
    registrationNumberHint: 'In the commercial or company register.',
    owners: 'Owners',
    ownersHint: 'Everyone who holds 25 percent or more. Leave nobody out.',
    owner: (index: number) => `Owner ${number(index)}`,
    ownerName: 'Name',
    ownerShare: 'Share in percent',
    addOwner: 'Add an owner',
    removeOwner: (index: number) => `Remove owner ${number(index)}`,
    sum: (percent: number) => `${number(percent)} percent in all`,
    problems: (count: number) => `Please look at ${plural(count, 'entry', 'entries')} again:`,
    nameMissing: 'Enter the name.',
    nameLong: 'Use at most 200 characters.',
    characters: 'Leave out characters that cannot be printed.',
    dateMissing: 'Enter day, month and year.',
    dateInvalid: 'This date does not exist.',
    dateFuture: 'This date is in the future.',
    dateOld: 'This date is too long ago.',
    countryMissing: 'Choose a country.',
    numberMissing: 'Enter the registration number.',
    numberLong: 'Use at most 64 characters.',
    ownersMissing: 'Name at least one owner.',
    shareInvalid: 'Enter a whole percentage from 1 to 100.',
    sharesOver: 'Together that is more than 100 percent.',
  },

  documents: {
    title: 'Your documents',
    titleBusiness: 'Documents of the business',
    lead: 'Take a photo or choose a file. Everything is sent over an encrypted line and stored encrypted.',
    limits: (formats: string, megabytes: number) => `${formats}, at most ${number(megabytes)} MB each.`,
    image: 'JPEG, PNG or WebP',
    imageOrPdf: 'JPEG, PNG, WebP or PDF',
    guidance: {
      'identity-document': 'Passport, identity card or residence permit. Of a card, both sides.',
      portrait: 'Your face from the front, well lit, without sunglasses or hat.',
      'proof-of-address':
        'A bill, a bank statement or an official letter of the last three months with your name and address.',
      'registration-document': 'The current extract of the register, or the certificate of incorporation.',
    },
    tips: {
      'identity-document': ['All four corners visible', 'Nothing blurred or covered', 'No glare'],
      portrait: ['Face the light', 'Look at the camera', 'Nobody else in the picture'],
      'proof-of-address': ['The whole page', 'Name, address and date readable'],
      'registration-document': ['All pages', 'Not older than three months'],
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
    paused: 'Interrupted. It goes on when you are back online.',
    stopUpload: 'Stop',
    removeLabel: (name: string) => `Remove ${name}`,
    received: (name: string) => `${name} was received.`,
    removed: (name: string) => `${name} was removed.`,
    full: (maximum: number) =>
      maximum === 1
        ? 'Only one is possible. Remove it to add another.'
        : `No more than ${number(maximum)} are possible. Remove one to add another.`,
    tooLarge: (megabytes: number) =>
      `This file is larger than ${number(megabytes)} MB. Choose a smaller one or take a photo.`,
    wrongType: (formats: string) => `This kind of file cannot be read here. Use ${formats}.`,
    infected: 'The scanner found something harmful in this file. Take a photo of the paper instead.',
    unreadable: 'This file seems damaged. Choose another one or take a photo.',
    empty: 'This file is empty.',
    busy: 'Many people are sending documents just now. Try again in a moment.',
    wait: 'Please wait until everything has been sent, or stop what you do not need.',
    missing: (items: string) => `Still needed: ${items}.`,
    phoneText: 'Go on with your phone and take the photos there.',
    phoneAction: 'Continue on my phone',
  },

  camera: {
    title: 'Take a photo',
    starting: 'Starting the camera',
    hold: 'Hold the document inside the frame.',
    face: 'Bring your face into the oval.',
    shoot: 'Take the photo',
    again: 'Take it again',
    use: 'Use this photo',
    sharp: 'Is everything sharp and readable?',
    preview: 'The photo just taken',
    refused: 'The browser did not allow the camera. Allow it in the address bar, or choose a file.',
    missing: 'No camera was found. Choose a file instead.',
    turn: 'Use the other camera',
  },

  review: {
    title: 'Check and send',
    lead: (organization: string) => `This is what goes to ${organization}. After sending it cannot be changed.`,
    wallets: 'Wallets',
    details: 'Details',
    documents: 'Documents',
    sharing: 'Other organizations',
    sharesYes: 'May rely on the result.',
    sharesNo: (organization: string) => `May not: the result is for ${organization} only.`,
    share: (percent: number) => `${number(percent)} percent`,
    changeLabel: (what: string) => `Change: ${what}`,
    missing: 'Something is still missing:',
    submit: (organization: string) => `Send to ${organization}`,
    submitting: 'Sending',
    truth: 'By sending, you confirm that everything is true and yours.',
  },

  outcome: {
    completedTitle: 'You are verified',
    completedTitleBusiness: 'The business is verified',
    completedText: (organization: string) => `${organization} has been told. There is nothing more to do here.`,
    completedWallets: 'Verified wallets',
    submittedTitle: 'In review',
    submittedText: (organization: string) =>
      `Everything has arrived. Someone at ${organization} is looking at it now, which can take some time.`,
    submittedNote: 'You are not yet authorized',
    submittedNoteText: (organization: string) =>
      `Until the review has ended, ${organization} does not treat your wallets as verified.`,
    submittedFollow: 'You can leave this page open: it changes by itself. Or come back later with the same link.',
    rejectedTitle: 'The verification was refused',
    rejectedText: (organization: string) =>
      `This decision is final for this verification. If you think it is a mistake, please speak to ${organization}.`,
    retryTitle: 'Please look at this once more',
    retryText: (organization: string) => `${organization} could not finish the check. This can be mended.`,
    retryOnly: 'Only this has to be done again:',
    retryAll: 'Please go through your entries again, correct what is meant, and send them once more.',
    retryStart: 'Correct it now',
    comment: (organization: string) => `What ${organization} says`,
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
      `To protect you, your verification${organization === '' ? '' : ` for ${organization}`} opens only in the browser in which it was started.`,
    first: 'If that was you',
    firstText:
      'Go back to the browser in which you began. On a computer, its step “Wallets” has a code that brings you to your phone.',
    wallet: 'Continue here with your wallet',
    walletText:
      'Sign with the wallet that this verification is for, or with a wallet that you have connected. The verification moves to this browser and ends in the other one.',
    notYou: 'If it was not you',
    notYouText: (organization: string) =>
      `Sign below with your wallet: the other browser then loses access. Or ask ${organization === '' ? 'the sender of the link' : organization} for a new link, and do not pass it on.`,
  },

  leave: {
    button: 'Leave this device',
    title: 'Leave this device?',
    text: 'Nobody can open your verification in this browser afterwards. What you have sent stays with your verification; what you typed in and did not send is deleted.',
    goOn: (organization: string) =>
      `To go on elsewhere, open your link there and sign with a wallet that you have connected, or ask ${organization} for a new link.`,
    action: 'Leave this device',
    failed: 'This browser can still open your verification',
    leftTitle: 'You have left this device',
    leftText: 'This browser can no longer open your verification. You can close this page.',
    leftDo:
      'To go on, open your link on your own device and sign with a wallet that you have connected, or ask for a new link.',
  },

  problems: {
    noLinkTitle: 'This page opens with your link',
    noLinkText:
      'A verification opens only with the link that you were sent, in the browser in which you first opened it. The address of this page alone is not enough.',
    noLinkDo: 'Open the link again, or scan the QR code again. If that does not help, ask for a new link.',
    deadLinkTitle: 'This link does not work',
    deadLinkText: 'It was cut off on the way, or newer links have replaced it.',
    deadLinkDo: 'Copy the whole link, or ask whoever sent it to you for a new one.',
    nothingTitle: 'There is nothing here',
    nothingText: 'This is the verification page of a service. It has no front page.',
    nothingDo: 'To verify, use the link or the QR code that you were given.',
    wrongHostTitle: 'Please use the other address',
    wrongHostText: (url: string) => `This page is meant to be used at ${url}.`,
    brokenTitle: 'Something went wrong',
    brokenText: 'That should not have happened, and it is not your fault. What you entered before is safe.',
    reload: 'Load the page again',
    offline: 'You are offline. What you entered is safe; the page goes on when the connection is back.',
    requestId: (id: string) => `For support: ${id}`,
  },

  errors: {
    network: 'No connection just now. Nothing was lost: try again.',
    general: 'That did not work. Please try again.',
    busy: 'The service is busy. Try again in a moment.',
    late: 'That took too long. Please try again.',
    proof: 'The signature does not fit the wallet or the message, or the message is too old. Please sign again.',
    refused: (wallet: string) => `You declined in ${wallet}. Nothing has happened; try again when you like.`,
    walletFailed: (wallet: string) => `${wallet} reported a problem. Unlock it, and try again.`,
    locked: 'This verification is for another wallet, and accepts that one alone.',
    limit: (maximum: number) => `No more than ${plural(maximum, 'wallet is', 'wallets are')} possible.`,
    closed: 'This verification has moved on in the meantime.',
    notRequested: 'This was not sent back to you, so it cannot be changed.',
    address: 'This is not a wallet address.',
    addressChecksum: 'This address has a typing error. Copy it from the wallet.',
    addressMissing: 'Enter the address of the wallet.',
    signatureMissing: 'Paste the signature.',
    notConnected: 'This wallet was not connected to the verification before.',
    chain: 'The wallet’s chain cannot be asked just now. Try again in a moment.',
    outdated: 'The text has changed. Please read it again.',
    incomplete: 'Something is still missing.',
    originForeign: 'Open this page at its own address, and try again.',
  },
}

export type Messages = typeof english
