import { revisions } from '#codecs/iso20022'
import { defineSettings, kind, type SettingValues, setting } from '#src/platform/config/index.ts'

/** Which message versions we send, and whose schemas validate them. */
export const schemaSettings = defineSettings({
  revision: setting('SPI_REVISION', kind.oneOf(...revisions), {
    default: '5.11.1',
    doc: 'Revision of the SPI catalogue whose message versions are sent; any known version is read.',
  }),
  folder: setting('SPI_SCHEMA_DIR', kind.text({ pattern: /^.{1,4096}$/, expected: 'a path' }), {
    doc: 'Folder or zip file with the central bank’s XSD files, used instead of the built-in ones.',
  }),
  learning: setting('SPI_SCHEMA_LEARNING', kind.boolean(), {
    default: 'true',
    doc: 'Whether a received or submitted message is compared with those of the same form before it, and read or validated in full only where it differs; false does it in full for each, in several times the time. The verdicts are the same.',
  }),
})

export type SchemaSettings = SettingValues<typeof schemaSettings>
