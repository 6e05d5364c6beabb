import type { ProjectedType } from './formats.ts'
import pacs002 from './sample-pacs002.xml' with { type: 'text' }
import pacs004 from './sample-pacs004.xml' with { type: 'text' }
import pacs008 from './sample-pacs008.xml' with { type: 'text' }

/** A message of each type that has a business view; made up, without a signature. */
// Bun's types consider every *.xml a parsed document, whatever the import says.
export const samples = {
  'pacs.002': pacs002,
  'pacs.004': pacs004,
  'pacs.008': pacs008,
} as unknown as Readonly<Record<ProjectedType, string>>
