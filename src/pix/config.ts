import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** What remains of 77 characters (manual of the BR Code) for a host, beside our path and the token. */
const hostCharsMax = 38
const hostForm = /^[a-z0-9.-]+(?::\d{1,5})?(?:\/[A-Za-z0-9._~-]+)*$/

const locationHost = kind.value(
  `host, with a port and a path if need be, at most ${hostCharsMax} characters: \`pix.example.com\``,
  (text) => {
    if (text.length > hostCharsMax) throw new Error('is too long for the location in a QR code')
    if (!hostForm.test(text)) throw new Error('is no host')
    return text
  },
)

/** What merchants' software is offered: the API Pix. */
export const pixSettings = defineSettings({
  locationHost: setting('PIX_LOCATION_HOST', locationHost, {
    doc: 'Where payers reach `/qr/v2/` of this gateway, over HTTPS; it stands in QR codes. Charges need it.',
  }),
  signingKid: setting(
    'PIX_SIGNING_KID',
    kind.text({ pattern: /^[!-~]{1,128}$/, expected: 'kid' }),
    {
      doc: 'kid of the certificate in the store that signs payloads; once it is over or gone, its latest successor does.',
    },
  ),
  tokenSeconds: setting('PIX_TOKEN_SECONDS', kind.integer(60, 86_400), {
    default: '3600',
    doc: 'Seconds that a token of `/oauth/token` lasts.',
  }),
})

export type PixSettings = SettingValues<typeof pixSettings>
