import type { SessionPart } from '../../../domain/requirements.ts'
import type { Messages } from './english.ts'

const number = new Intl.NumberFormat('de').format

const plural = (count: number, one: string, other: string): string => `${number(count)} ${count === 1 ? one : other}`

const parts: Readonly<Record<SessionPart, string>> = {
  fullName: 'Vollständiger Name',
  birthDate: 'Geburtsdatum',
  country: 'Land',
  registeredName: 'Eingetragener Name',
  registrationNumber: 'Registernummer',
  owners: 'Eigentümer',
  'identity-document': 'Ausweisdokument',
  portrait: 'Foto von Ihnen',
  'proof-of-address': 'Adressnachweis',
  'registration-document': 'Registerauszug',
  wallets: 'Wallets',
}

export const german: Messages = {
  locale: 'de',

  common: {
    continue: 'Weiter',
    back: 'Zurück',
    cancel: 'Abbrechen',
    close: 'Schließen',
    change: 'Ändern',
    remove: 'Entfernen',
    tryAgain: 'Noch einmal versuchen',
    copy: 'Kopieren',
    copied: 'Kopiert',
    loading: 'Wird geladen',
    language: 'Sprache',
    skipToContent: 'Zum Inhalt springen',
    verification: 'Identitätsprüfung',
    testSession: 'Testsitzung. Hier ist nichts echt: Verwenden Sie erfundene Angaben.',
    stepOf: (step, steps) => `Schritt ${number(step)} von ${number(steps)}`,
    steps: 'Schritte',
    done: 'erledigt',
    current: 'aktueller Schritt',
    privacy: (organization) => `Datenschutz bei ${organization}`,
    support: (organization, address) => `Fragen an ${organization}: ${address}`,
    runBy: (host) => `Prüfungsseite auf ${host}`,
    listOf: (items) => new Intl.ListFormat('de').format(items),
  },

  steps: {
    welcome: 'Willkommen',
    consent: 'Ihre Zustimmung',
    wallets: 'Wallets',
    details: 'Angaben',
    documents: 'Dokumente',
    review: 'Prüfen',
    outcome: 'Ergebnis',
  },

  parts,
  partsInline: parts,

  welcome: {
    title: {
      kyc: (organization) => `${organization} bittet Sie, Ihre Identität zu bestätigen`,
      kyb: (organization) => `${organization} bittet Sie, Ihr Unternehmen zu bestätigen`,
    },
    why: {
      kyc: (organization) =>
        `${organization} muss wissen, wer die eigenen Kundinnen und Kunden sind, bevor sie die Dienste nutzen. Das erledigen Sie einmal, hier, und ${organization} erfährt das Ergebnis.`,
      kyb: (organization) =>
        `${organization} muss wissen, mit welchen Unternehmen es zu tun hat, bevor sie die Dienste nutzen. Das erledigen Sie einmal, hier, und ${organization} erfährt das Ergebnis.`,
    },
    sentBy: (host) => `Danach geht es zurück zu ${host}.`,
    youWill: 'Das erwartet Sie',
    minutes:
      'Alles einzugeben dauert etwa fünf Minuten. Sie können unterbrechen und wiederkommen: Ihre Eingaben bleiben erhalten.',
    wallets: 'Wallets verbinden',
    walletsText:
      'Sie zeigen mit einer signierten Nachricht, dass sie Ihnen gehören. Das kostet nichts und bewegt kein Geld.',
    walletLocked: 'Wallet verbinden',
    walletLockedText: (address) => `Für diese Prüfung gilt allein die Wallet ${address}.`,
    details: { kyc: 'Angaben zu Ihrer Person', kyb: 'Angaben zum Unternehmen' },
    detailsText: (items) => `${items}.`,
    documents: 'Dokumente zeigen',
    documentsText: (items) => `${items}. Ein Foto mit dem Handy genügt.`,
    wait: 'Ergebnis erfahren',
    waitText: 'Diese Seite zeigt das Ergebnis, sobald es vorliegt.',
    waitUsual: (time) => `Die Prüfung dauert meist etwa ${time}.`,
    says: (organization) => `${organization} schreibt`,
    notExpected: 'Hat Ihnen jemand anderes diesen Link geschickt?',
    notExpectedText: (organization) =>
      `Machen Sie nur weiter, wenn Sie bei ${organization} Kunde sind oder werden möchten. Niemand von ${organization} fragt Sie nach Wiederherstellungswörtern oder einem privaten Schlüssel, und diese Seite tut es nie.`,
    start: 'Beginnen',
  },

  consent: {
    title: 'Bevor Sie beginnen',
    lead: (organization) =>
      `Bitte lesen Sie, wie ${organization} Ihre Daten verwendet, und entscheiden Sie, ob Sie zustimmen.`,
    collected: 'Erhobene Daten',
    collectedText: (items) => `${items}; Ihre Wallet-Adressen; und die Signaturen, die zeigen, dass sie Ihnen gehören.`,
    seen: 'Wer es sieht',
    seenText: (organization) =>
      `Die Menschen bei ${organization}, die es prüfen, und dieser Dienst, der für ${organization} arbeitet. Dokumente werden verschlüsselt gespeichert, und jeder Blick darauf wird festgehalten.`,
    used: 'Zweck',
    usedText: (organization) =>
      `Um zu bestätigen, wer Sie sind und dass die Wallets Ihnen gehören, wie es das Gesetz von ${organization} verlangt. Zu nichts anderem, außer Sie stimmen dem unten zu.`,
    kept: 'Wie lange es bleibt',
    keptText: (organization, completed, rejected, abandoned) =>
      `${completed} nach der Bestätigung, ${rejected} nach einer Ablehnung oder ${abandoned} nach Ihrem letzten Schritt, wenn Sie nicht zu Ende machen. Dann wird es vernichtet. Bei ${organization} können Sie Einsicht, Berichtigung und Löschung verlangen.`,
    shareTitle: 'Dürfen sich andere Organisationen auf das Ergebnis verlassen?',
    shareText:
      'Andere Organisationen, die diesen Dienst nutzen, sähen dann, dass Ihre Wallets geprüft sind. Ihre Angaben und Dokumente sehen sie nicht.',
    shareYes: 'Ja, damit ich mich anderswo nicht noch einmal prüfen lassen muss',
    shareNo: (organization) => `Nein, nur ${organization}`,
    shareMissing: 'Bitte wählen Sie eines von beiden.',
    detailsTitle: 'Dürfen Ihr Land und Ihr Alter für Ihre Transaktionen verwendet werden?',
    details: 'Mein Land und mein Alter verwenden, um über meine Transaktionen zu entscheiden.',
    detailsText: (organization) =>
      `Das ist freiwillig. Wenn Sie geprüft sind, können Regeln von ${organization} eine Transaktion wegen Ihres Landes oder Ihres Alters erlauben oder ablehnen. Andere Organisationen sehen beides nie. Bis zum Absenden können Sie Ihre Antwort ändern. Danach bitten Sie ${organization}, diese Verwendung zu beenden.`,
    agree: 'Ich stimme zu, weiter',
    disagree: 'Ich stimme nicht zu',
    disagreeTitle: 'Sie haben nicht zugestimmt',
    disagreeText: (organization) =>
      `Es wurde nichts erhoben. Sie können diese Seite schließen, oder alles noch einmal lesen und später zustimmen. ${organization} sieht nur, dass die Prüfung nicht beendet wurde.`,
    version: (version) => `Textfassung ${version}`,
  },

  wallets: {
    title: 'Verbinden Sie Ihre Wallets',
    titleLocked: 'Verbinden Sie Ihre Wallet',
    lead: (maximum) =>
      `Fügen Sie jede Wallet hinzu, die Sie nutzen möchten, bis zu ${number(maximum)}, auf beliebigen Chains. Dieselbe Wallet kann für mehrere Chains hinzugefügt werden.`,
    leadLocked: 'Diese Prüfung gilt für eine einzige Wallet. Eine andere wird nicht angenommen.',
    lockedWallet: 'Diese Wallet verbinden',
    connected: 'Verbunden',
    count: (count, maximum) => `${number(count)} von ${number(maximum)}`,
    full: (maximum) =>
      maximum === 1
        ? 'Es ist nur eine möglich. Entfernen Sie sie, um eine andere hinzuzufügen.'
        : `Mehr als ${number(maximum)} sind nicht möglich. Entfernen Sie eine, um eine andere hinzuzufügen.`,
    add: 'Wallet hinzufügen',
    addAnother: 'Weitere Wallet hinzufügen',
    inBrowser: 'In diesem Browser',
    searching: 'Wallets in diesem Browser werden gesucht',
    noneFound: 'In diesem Browser wurde keine Wallet gefunden.',
    noWalletConnect:
      'WalletConnect wird hier nicht verwendet, denn es würde über die Server einer anderen Firma führen. Jede Wallet lässt sich auf einem dieser Wege verbinden:',
    openIn: 'Diese Seite in Ihrer Wallet-App öffnen',
    openInText:
      'Ihre Wallet hat einen eigenen Browser. Die Seite öffnet sich dort, und Sie machen an dieser Stelle weiter.',
    opening: 'Wenn nichts geschieht, ist die App auf diesem Handy nicht installiert.',
    openInReady: (name) => `In ${name} öffnen`,
    onPhone: 'Wallet auf meinem Handy nutzen',
    onPhoneText:
      'Scannen Sie diesen Code mit dem Handy. Die Seite öffnet sich dort, und Sie machen an dieser Stelle weiter.',
    onPhoneExpires: 'Der Code gilt einmal, zehn Minuten lang.',
    onPhoneAlt: 'QR-Code mit einem Link zu dieser Prüfung',
    byHand: 'Von Hand signieren',
    byHandText: 'Für Hardware-Wallets, Contract-Wallets und Wallets auf einem anderen Gerät.',
    connectWith: (name) => `${name} verbinden`,
    waiting: (name) => `Warten auf ${name}. Achten Sie auf das Fenster der Wallet.`,
    account: 'Konto',
    chain: 'Chain',
    chainOther: (chainId) => `Chain ${chainId}`,
    sign: (name) => `Mit ${name} signieren`,
    signing: (name) => `Signieren Sie die Nachricht in ${name}`,
    signText: 'Die Signatur zeigt, dass die Wallet Ihnen gehört. Sie kostet nichts und bewegt kein Geld.',
    checking: 'Die Signatur wird geprüft',
    added: (address, chain) => `${address} auf ${chain} ist verbunden.`,
    already: 'Schon verbunden',
    removed: 'Die Wallet wurde entfernt.',
    removeLabel: (address, chain) => `${address} auf ${chain} entfernen`,
    copyAddress: 'Adresse kopieren',
    noAccounts:
      'Die Wallet gibt dieser Seite kein Konto frei. Wählen Sie eines in der Wallet und versuchen Sie es noch einmal.',
    wrongAccount: (address) =>
      `Diese Prüfung gilt allein für ${address}. Wählen Sie dieses Konto in Ihrer Wallet und versuchen Sie es noch einmal.`,
    needOne: 'Verbinden Sie mindestens eine Wallet, um weiterzumachen.',
    needLocked: 'Verbinden Sie diese Wallet, um weiterzumachen.',
  },

  manual: {
    title: 'Von Hand signieren',
    address: 'Wallet-Adresse',
    addressHint: 'Beginnt mit 0x, oder eine Solana-Adresse.',
    chain: 'Chain',
    getMessage: 'Nachricht anzeigen',
    messageText:
      'Kopieren Sie den ganzen Text, signieren Sie ihn mit der Wallet als persönliche Nachricht und fügen Sie die Signatur unten ein.',
    message: 'Nachricht zum Signieren',
    expires: (minutes) => `Die Nachricht gilt ${plural(minutes, 'Minute', 'Minuten')} lang, und nur einmal.`,
    signature: 'Signatur',
    signatureHint: { evm: 'Beginnt mit 0x.', solana: 'Base58, oder hexadezimal mit 0x am Anfang.' },
    check: 'Signatur prüfen',
    contract: (chains) => `Contract-Wallets, etwa von Safe, können auf ${chains} geprüft werden.`,
    noContract:
      'Contract-Wallets, etwa von Safe, können hier nicht geprüft werden: Dieser Dienst hat keine Verbindung zu ihren Chains.',
    startOver: 'Andere Adresse verwenden',
  },

  details: {
    title: { kyc: 'Angaben zu Ihnen', kyb: 'Angaben zum Unternehmen' },
    lead: { kyc: 'So, wie es in Ihrem Pass oder Personalausweis steht.', kyb: 'So, wie es im Register steht.' },
    fill: 'Aus einem Foto von Pass oder Ausweis ausfüllen',
    fillHint:
      'Fotografieren Sie die Seite mit den Zeilen voller <-Zeichen am Rand. Das Foto wird auf diesem Gerät gelesen und nicht gesendet.',
    fillReading: 'Wird gelesen …',
    fillRead: 'Ausgefüllt. Bitte vergleichen Sie jeden Buchstaben mit dem Dokument.',
    fillUnread: 'Die Zeilen sind nicht lesbar. Versuchen Sie ein schärferes Foto, oder tippen Sie.',
    fullName: 'Vollständiger Name',
    fullNameHint: 'Alle Vornamen und Familiennamen.',
    birthDate: 'Geburtsdatum',
    day: 'Tag',
    month: 'Monat',
    year: 'Jahr',
    country: 'Land',
    countryHint: { kyc: 'In dem Sie wohnen.', kyb: 'In dem es eingetragen ist.' },
    countryChoose: 'Land wählen',
    registeredName: 'Eingetragener Name',
    registeredNameHint: 'Mit der Rechtsform.',
    registrationNumber: 'Registernummer',
    registrationNumberHint: 'Im Handels- oder Unternehmensregister.',
    owners: 'Eigentümer',
    ownersHint: 'Alle, denen 25 Prozent oder mehr gehören.',
    owner: (index) => `Eigentümer ${number(index)}`,
    ownerName: 'Name',
    ownerShare: 'Anteil in Prozent',
    addOwner: 'Eigentümer hinzufügen',
    removeOwner: (index) => `Eigentümer ${number(index)} entfernen`,
    sum: (percent) => `Zusammen ${number(percent)} Prozent`,
    problems: (count) => `Bitte berichtigen Sie ${plural(count, 'Eingabe', 'Eingaben')}:`,
    nameMissing: 'Geben Sie den Namen ein.',
    nameLong: 'Höchstens 200 Zeichen.',
    characters: 'Lassen Sie Zeichen weg, die sich nicht drucken lassen.',
    dateMissing: 'Geben Sie Tag, Monat und Jahr ein.',
    dateInvalid: 'Dieses Datum gibt es nicht.',
    dateFuture: 'Dieses Datum liegt in der Zukunft.',
    dateOld: 'Dieses Datum liegt zu lange zurück.',
    countryMissing: 'Wählen Sie ein Land.',
    numberMissing: 'Geben Sie die Registernummer ein.',
    numberLong: 'Höchstens 64 Zeichen.',
    ownersMissing: 'Nennen Sie mindestens einen Eigentümer.',
    shareInvalid: 'Geben Sie einen ganzen Prozentwert von 1 bis 100 ein.',
    sharesOver: 'Zusammen sind das mehr als 100 Prozent.',
  },

  documents: {
    title: 'Ihre Dokumente',
    titleBusiness: 'Dokumente des Unternehmens',
    lead: 'Machen Sie ein Foto oder wählen Sie eine Datei. Alles wird verschlüsselt übertragen und verschlüsselt gespeichert.',
    limits: (formats, megabytes) => `${formats}, jeweils höchstens ${number(megabytes)} MB.`,
    image: 'JPEG, PNG oder WebP',
    imageOrPdf: 'JPEG, PNG, WebP oder PDF',
    guidance: {
      'identity-document': 'Reisepass, Personalausweis oder Aufenthaltstitel. Von einer Karte beide Seiten.',
      portrait: 'Ihr Gesicht von vorn, gut beleuchtet, ohne Sonnenbrille und Kopfbedeckung.',
      'proof-of-address':
        'Eine Rechnung, ein Kontoauszug oder ein amtliches Schreiben der letzten drei Monate mit Ihrem Namen und Ihrer Adresse.',
      'registration-document': 'Der aktuelle Registerauszug oder die Gründungsurkunde.',
    },
    tips: {
      'identity-document': ['Alle vier Ecken sichtbar', 'Nichts unscharf oder verdeckt', 'Keine Spiegelung'],
      portrait: ['Licht von vorn', 'In die Kamera sehen', 'Niemand sonst im Bild'],
      'proof-of-address': ['Die ganze Seite', 'Name, Adresse und Datum lesbar'],
      'registration-document': ['Alle Seiten', 'Nicht älter als drei Monate'],
    },
    takePhoto: 'Foto machen',
    chooseFile: 'Datei wählen',
    addPage: 'Seite hinzufügen',
    replace: 'Ersetzen',
    drop: 'oder eine Datei hierher ziehen',
    given: 'Angekommen',
    needed: 'Fehlt noch',
    again: 'Bitte noch einmal',
    preparing: 'Das Bild wird vorbereitet',
    uploading: (percent) => `Wird gesendet: ${number(percent)} Prozent`,
    checking: 'Wird geprüft und verschlüsselt',
    paused: 'Unterbrochen. Es geht weiter, sobald Sie wieder online sind.',
    stopUpload: 'Abbrechen',
    removeLabel: (name) => `${name} entfernen`,
    received: (name) => `${name} ist angekommen.`,
    removed: (name) => `${name} wurde entfernt.`,
    full: (maximum) =>
      maximum === 1
        ? 'Es ist nur eine Datei möglich. Entfernen Sie sie, um eine andere hinzuzufügen.'
        : `Mehr als ${number(maximum)} sind nicht möglich. Entfernen Sie eine, um eine andere hinzuzufügen.`,
    tooLarge: (megabytes) =>
      `Diese Datei ist größer als ${number(megabytes)} MB. Wählen Sie eine kleinere oder machen Sie ein Foto.`,
    wrongType: (formats) => `Diese Art von Datei kann hier nicht gelesen werden. Verwenden Sie ${formats}.`,
    infected: 'Der Virenscanner hat in dieser Datei etwas Schädliches gefunden. Machen Sie stattdessen ein Foto.',
    unreadable: 'Diese Datei scheint beschädigt zu sein. Wählen Sie eine andere oder machen Sie ein Foto.',
    empty: 'Diese Datei ist leer.',
    busy: 'Gerade senden viele Menschen Dokumente. Versuchen Sie es gleich noch einmal.',
    wait: 'Bitte warten Sie, bis alles gesendet ist, oder brechen Sie ab, was Sie nicht brauchen.',
    missing: (items) => `Es fehlt noch: ${items}.`,
    phoneText: 'Machen Sie mit Ihrem Handy weiter und nehmen Sie die Fotos dort auf.',
    phoneAction: 'Auf dem Handy weitermachen',
  },

  camera: {
    title: 'Foto machen',
    starting: 'Die Kamera wird gestartet',
    hold: 'Halten Sie das Dokument in den Rahmen.',
    face: 'Bringen Sie Ihr Gesicht in das Oval.',
    shoot: 'Foto aufnehmen',
    again: 'Noch einmal aufnehmen',
    use: 'Dieses Foto verwenden',
    sharp: 'Ist alles scharf und lesbar?',
    preview: 'Das eben aufgenommene Foto',
    refused:
      'Der Browser hat die Kamera nicht erlaubt. Erlauben Sie sie in der Adresszeile, oder wählen Sie eine Datei.',
    missing: 'Es wurde keine Kamera gefunden. Wählen Sie stattdessen eine Datei.',
    turn: 'Andere Kamera verwenden',
  },

  review: {
    title: 'Prüfen und senden',
    lead: (organization) =>
      `Prüfen Sie die Angaben für ${organization}. Nach dem Senden lassen sie sich nicht mehr ändern.`,
    wallets: 'Wallets',
    details: 'Angaben',
    documents: 'Dokumente',
    sharing: 'Andere Organisationen',
    sharesYes: 'Dürfen sich auf das Ergebnis verlassen.',
    sharesNo: (organization) => `Dürfen es nicht: Das Ergebnis gilt nur für ${organization}.`,
    detailsUse: 'Land und Alter',
    detailsUsed: 'Dürfen verwendet werden, um über Ihre Transaktionen zu entscheiden.',
    detailsUnused: 'Werden nicht verwendet, um über Ihre Transaktionen zu entscheiden.',
    share: (percent) => `${number(percent)} Prozent`,
    changeLabel: (what) => `Ändern: ${what}`,
    missing: 'Es fehlt noch etwas:',
    submit: (organization) => `An ${organization} senden`,
    submitting: 'Wird gesendet',
    truth: 'Mit dem Senden bestätigen Sie, dass alles wahr ist und von Ihnen stammt.',
  },

  outcome: {
    completedTitle: 'Sie sind geprüft',
    completedTitleBusiness: 'Das Unternehmen ist geprüft',
    completedText: (organization) => `${organization} wurde benachrichtigt. Hier ist nichts weiter zu tun.`,
    completedWallets: 'Geprüfte Wallets',
    submittedTitle: 'In Prüfung',
    submittedText: (organization) =>
      `Alles ist angekommen und wird von ${organization} geprüft. Das kann etwas dauern.`,
    submittedNote: 'Sie sind noch nicht geprüft',
    submittedNoteText: (organization) =>
      `Bis die Prüfung abgeschlossen ist, gelten Ihre Wallets bei ${organization} nicht als geprüft.`,
    submittedFollow:
      'Sie können diese Seite offen lassen: Sie ändert sich von selbst. Oder kommen Sie mit demselben Link wieder.',
    rejectedTitle: 'Die Prüfung wurde abgelehnt',
    rejectedText: (organization) =>
      `Für diese Prüfung ist das endgültig. Wenn Sie es für einen Irrtum halten, sprechen Sie bitte mit ${organization}.`,
    retryTitle: 'Bitte prüfen Sie Ihre Angaben',
    retryText: (organization) => `${organization} konnte die Prüfung nicht abschließen. Das lässt sich beheben.`,
    retryOnly: 'Nur das ist noch einmal zu tun:',
    retryAll: 'Bitte gehen Sie Ihre Angaben noch einmal durch, berichtigen Sie Fehler und senden Sie sie erneut.',
    retryStart: 'Jetzt berichtigen',
    comment: (organization) => `Was ${organization} dazu sagt`,
    noComment: 'Ein Grund wurde nicht genannt.',
    goBack: (host) => `Zurück zu ${host}`,
    timeline: 'Wie es weitergeht',
    timelineSent: 'Gesendet',
    timelineReview: 'In Prüfung',
    timelineResult: 'Ergebnis',
  },

  elsewhere: {
    title: 'Diese Prüfung wurde in einem anderen Browser begonnen',
    text: (organization) =>
      `Zu Ihrem Schutz öffnet sich Ihre Prüfung${organization === '' ? '' : ` für ${organization}`} nur in dem Browser, in dem sie begonnen wurde.`,
    first: 'Wenn Sie das waren',
    firstText:
      'Gehen Sie zurück zu dem Browser, in dem Sie begonnen haben. Auf einem Computer hat dort der Schritt „Wallets“ einen Code, der Sie auf Ihr Handy bringt.',
    wallet: 'Hier mit Ihrer Wallet weitermachen',
    walletText:
      'Signieren Sie mit der Wallet, für die diese Prüfung gilt, oder mit einer, die Sie schon verbunden haben. Die Prüfung zieht in diesen Browser um und endet in dem anderen.',
    notYou: 'Wenn Sie es nicht waren',
    notYouText: (organization) =>
      `Signieren Sie unten mit Ihrer Wallet: Der andere Browser verliert damit den Zugang. Oder bitten Sie ${organization === '' ? 'den Absender des Links' : organization} um einen neuen Link, und geben Sie ihn nicht weiter.`,
  },

  leave: {
    button: 'Dieses Gerät verlassen',
    title: 'Dieses Gerät verlassen?',
    text: 'Danach kann niemand mehr Ihre Prüfung in diesem Browser öffnen. Was Sie gesendet haben, bleibt bei Ihrer Prüfung; was Sie eingegeben und nicht gesendet haben, wird gelöscht.',
    goOn: (organization) =>
      `Um anderswo weiterzumachen, öffnen Sie dort Ihren Link und signieren Sie mit einer verbundenen Wallet, oder bitten Sie ${organization} um einen neuen Link.`,
    action: 'Dieses Gerät verlassen',
    failed: 'Dieser Browser kann Ihre Prüfung noch öffnen',
    leftTitle: 'Sie haben dieses Gerät verlassen',
    leftText: 'Dieser Browser kann Ihre Prüfung nicht mehr öffnen. Sie können diese Seite schließen.',
    leftDo:
      'Um weiterzumachen, öffnen Sie Ihren Link auf Ihrem eigenen Gerät und signieren Sie mit einer verbundenen Wallet, oder bitten Sie um einen neuen Link.',
  },

  problems: {
    noLinkTitle: 'Öffnen Sie diese Seite mit Ihrem Link',
    noLinkText:
      'Eine Prüfung öffnet sich nur mit dem Link, den Sie bekommen haben, in dem Browser, in dem Sie ihn zuerst geöffnet haben. Die Adresse dieser Seite allein genügt nicht.',
    noLinkDo:
      'Öffnen Sie den Link noch einmal, oder scannen Sie den QR-Code erneut. Hilft das nicht, bitten Sie um einen neuen Link.',
    deadLinkTitle: 'Dieser Link funktioniert nicht',
    deadLinkText: 'Er wurde unterwegs abgeschnitten, oder neuere Links haben ihn ersetzt.',
    deadLinkDo: 'Kopieren Sie den ganzen Link, oder bitten Sie den Absender um einen neuen.',
    nothingTitle: 'Hier ist nichts',
    nothingText: 'Das ist die Prüfungsseite eines Dienstes. Sie hat keine Startseite.',
    nothingDo: 'Für eine Prüfung verwenden Sie den Link oder den QR-Code, den Sie bekommen haben.',
    wrongHostTitle: 'Bitte verwenden Sie die andere Adresse',
    wrongHostText: (url) => `Öffnen Sie diese Seite unter ${url}.`,
    brokenTitle: 'Etwas ist schiefgegangen',
    brokenText: 'Das hätte nicht passieren dürfen und liegt nicht an Ihnen. Ihre bisherigen Eingaben sind sicher.',
    reload: 'Seite neu laden',
    offline:
      'Sie sind offline. Ihre Eingaben sind sicher; die Seite macht weiter, sobald die Verbindung wieder da ist.',
    requestId: (id) => `Für den Support: ${id}`,
  },

  errors: {
    network: 'Gerade keine Verbindung. Es ist nichts verloren: Versuchen Sie es noch einmal.',
    general: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
    busy: 'Der Dienst ist ausgelastet. Versuchen Sie es gleich noch einmal.',
    late: 'Das hat zu lange gedauert. Bitte versuchen Sie es noch einmal.',
    proof:
      'Die Signatur passt nicht zur Wallet oder zur Nachricht, oder die Nachricht ist zu alt. Bitte signieren Sie noch einmal.',
    refused: (wallet) =>
      `Sie haben in ${wallet} abgelehnt. Es ist nichts geschehen; versuchen Sie es wieder, wann Sie möchten.`,
    walletFailed: (wallet) =>
      `${wallet} meldet ein Problem. Entsperren Sie die Wallet und versuchen Sie es noch einmal.`,
    locked: 'Diese Prüfung gilt für eine andere Wallet und nimmt nur diese an.',
    limit: (maximum) => `Mehr als ${plural(maximum, 'Wallet ist', 'Wallets sind')} nicht möglich.`,
    closed: 'Diese Prüfung hat sich inzwischen geändert.',
    notRequested: 'Das wurde nicht an Sie zurückgegeben und lässt sich deshalb nicht ändern.',
    address: 'Das ist keine Wallet-Adresse.',
    addressChecksum: 'Diese Adresse enthält einen Tippfehler. Kopieren Sie sie aus der Wallet.',
    addressMissing: 'Geben Sie die Adresse der Wallet ein.',
    signatureMissing: 'Fügen Sie die Signatur ein.',
    notConnected: 'Diese Wallet ist nicht mit dieser Prüfung verbunden.',
    chain: 'Die Chain der Wallet ist gerade nicht erreichbar. Versuchen Sie es gleich noch einmal.',
    outdated: 'Der Text hat sich geändert. Bitte lesen Sie ihn noch einmal.',
    incomplete: 'Es fehlt noch etwas.',
    originForeign: 'Öffnen Sie diese Seite unter ihrer eigenen Adresse und versuchen Sie es noch einmal.',
  },
}
