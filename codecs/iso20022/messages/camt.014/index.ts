import { messageReader, text } from '../../shape.ts'
import { type MessageDefinition, ofOneVersion, onlyRead } from '../definition.ts'
import { messageHeader } from '../parts.ts'
import schema from './camt.014.xsd' with { type: 'text' }

/** camt.014, ReturnMember: a participant joined, changed or left. */
export const camt014 = {
  ...ofOneVersion('camt.014', '1.6', schema),
  read: messageReader('camt.014', 'RtrMmb', {
    messageHeader,
    participantIspb: text('RptOrErr/Rpt/MmbId/ClrSysMmbId/MmbId'),
    name: text('RptOrErr/Rpt/MmbOrErr/Mmb/Nm'),
    /** The schema puts it in an element for addresses. */
    document: text('RptOrErr/Rpt/MmbOrErr/Mmb/RtrAdr/Othr/Id'),
    participation: text('RptOrErr/Rpt/MmbOrErr/Mmb/Tp/Cd'),
    status: text('RptOrErr/Rpt/MmbOrErr/Mmb/Sts/Cd'),
    legalName: text('PtyRoleIdSD1/FullLglNm'),
    role: text('PtyRoleIdSD1/RolePlyr/PtyRole/Prtry'),
  }),
  ...onlyRead,
  exchange: { role: 'with_spi', tokens: null, answeredWith: 'admi.004' },
} as const satisfies MessageDefinition
