/** Writes docs/reasons.md: every reason of a refusal, return or cancellation; `--check` only compares. */
import { type CodeEntry, codeLists } from '#codecs/iso20022'

const path = `${import.meta.dir}/../docs/reasons.md`

/** The lists of reasons, and the message that holds each. */
const lists = {
  status_reason: 'pacs.002: why a payment or a return was refused',
  return_reason: 'pacs.004: why money is given back',
  charge_refusal: 'pain.014: why a charge of Pix Automático is refused',
  mandate_refusal: 'pain.012: why an authorisation of Pix Automático, or its end, is refused',
  mandate_cancellation_reason: 'pain.011: why an authorisation is ended',
  cancellation_reason: 'camt.055: why a scheduled charge is to be cancelled, or was',
  cancellation_refusal: 'camt.029: why a scheduled charge is not cancelled',
  receipt_refusal: 'camt.025: why a reported book transfer is refused',
  party_status_reason: 'reda.016: why a change of participants is refused, or has to wait',
} as const satisfies Partial<Record<keyof typeof codeLists, string>>

const intro = `# Reasons

Every code that says why something was refused, given back or cancelled, as \`GET /v1/codes\` has it. *Who*: R is the receiving participant, P the paying one, S the SPI; empty where no source says. *Sure*: \`official\` is the central bank's own table for the message, \`reported\` what others read in its catalogue, \`inferred\` what the same code means in another message, \`unknown\` a code of which only the letters are known. *What to do* is our advice to the institution that is told of it.
`

const both = (texts: CodeEntry['meaning']): string =>
  texts === undefined ? '' : `${texts.en}<br>*${texts.pt}*`

const versionsOf = ({ since, until }: CodeEntry): string =>
  [since === undefined ? '' : `since ${since}`, until === undefined ? '' : `until ${until}`]
    .filter((text) => text !== '')
    .join(', ')

const rowOf = (entry: CodeEntry): string => {
  const { code, meaning, remedy, raisedBy, certainty } = entry
  const cells = [
    `\`${code}\``,
    both(meaning),
    raisedBy.join(' '),
    both(remedy),
    certainty,
    versionsOf(entry),
  ]
  return `| ${cells.join(' | ')} |`
}

const sections = Object.entries(lists).map(([name, title]) => {
  const rows = [...codeLists[name as keyof typeof lists].values()].map(rowOf)
  const head = '| Code | Meaning | Who | What to do | Sure | Versions |\n|---|---|---|---|---|---|'
  return `## ${title}\n\n\`${name}\`\n\n${head}\n${rows.join('\n')}\n`
})
const page = [intro, ...sections].join('\n')

if (process.argv.includes('--check')) {
  if ((await Bun.file(path).text()) !== page) {
    console.error('docs/reasons.md is stale: bun scripts/reasons.ts')
    process.exit(1)
  }
} else await Bun.write(path, page)
