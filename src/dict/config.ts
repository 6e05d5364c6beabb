import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'
import { categories } from './policies.ts'

/** How we speak to the directory of Pix keys. */
export const dictSettings = defineSettings({
  url: setting('DICT_URL', kind.url('https', 'http'), {
    doc: 'Directory of Pix keys, with the version of its API: `https://dict.pi.rsfn.net.br:16422/api/v2`. Connections show the client certificate of the message interface (`CERT_SOURCE`), what changes something is signed as messages are (`SPI_SIGN_ENABLED`).',
  }),
  trustedCertificates: setting('DICT_TRUSTED_CERTS_PATH', kind.pem(), {
    doc: 'Certificates (PEM, one after the other) that the directory\u2019s answers must be signed with; without it signatures are not checked, which production refuses.',
  }),
  timeoutSeconds: setting('DICT_TIMEOUT', kind.integer(1, 60), {
    default: '5',
    doc: 'Seconds within which the directory answers; afterwards nothing is known of what was asked.',
  }),
  category: setting('DICT_CATEGORY', kind.oneOf(...categories), {
    default: 'H',
    doc: 'The institution\u2019s category in the directory, which says how much it may look up; the gateway asks no faster.',
  }),
  pollSeconds: setting('DICT_POLL_SECONDS', kind.integer(5, 3_600), {
    default: '30',
    doc: 'How often the lists of what other institutions ask of this one are read; the directory allows ten a minute.',
  }),
  comparisonRetentionDays: setting('DICT_COMPARISON_RETENTION_DAYS', kind.integer(30, 3_650), {
    default: '365',
    doc: 'Days comparisons of our entries with the directory\u2019s are kept after their end, with their differences, mended or not.',
  }),
  cacheSeconds: setting('DICT_CACHE_SECONDS', kind.integer(0, 3_600), {
    default: '60',
    doc: 'Longest time that an answer is used again; the directory may say less in `Cache-Control`, and 0 asks it each time.',
  }),
})

export type DictSettings = SettingValues<typeof dictSettings>
