export const LANGUAGES = [
  { value: 'en', label: 'English' },
  { value: 'de', label: 'Deutsch' },
] as const
export type Language = (typeof LANGUAGES)[number]['value']

export const mailFor = (
  language: Language,
  organization: string,
  url: string,
): { readonly subject: string; readonly body: string } =>
  language === 'de'
    ? {
        subject: `${organization}: Bitte bestätigen Sie Ihre Identität`,
        body: `Guten Tag,

bitte bestätigen Sie Ihre Identität für ${organization} über diesen Link:

${url}

Es dauert etwa fünf Minuten. Der Link gilt nur in dem Browser, in dem Sie ihn zuerst öffnen; geben Sie ihn nicht weiter. Niemand von ${organization} fragt Sie nach Wiederherstellungswörtern oder einem privaten Schlüssel.`,
      }
    : {
        subject: `${organization}: please verify your identity`,
        body: `Hello,

please verify your identity for ${organization} with this link:

${url}

It takes about five minutes. The link works only in the browser in which you open it first; do not share it. Nobody from ${organization} will ask you for a recovery phrase or a private key.`,
      }
