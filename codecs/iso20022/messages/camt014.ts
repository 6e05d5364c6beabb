import { messageReader, text } from '../shape.ts'
import { messageHeader } from './parts.ts'

/** Reads a scanned camt.014; problems are left in `reader`. */
export const readCamt014 = messageReader('camt.014', 'RtrMmb', {
  messageHeader,
  participantIspb: text('RptOrErr/Rpt/MmbId/ClrSysMmbId/MmbId'),
  name: text('RptOrErr/Rpt/MmbOrErr/Mmb/Nm'),
  /** The schema has it in an element for addresses. */
  document: text('RptOrErr/Rpt/MmbOrErr/Mmb/RtrAdr/Othr/Id'),
  participation: text('RptOrErr/Rpt/MmbOrErr/Mmb/Tp/Cd'),
  status: text('RptOrErr/Rpt/MmbOrErr/Mmb/Sts/Cd'),
  legalName: text('PtyRoleIdSD1/FullLglNm'),
  role: text('PtyRoleIdSD1/RolePlyr/PtyRole/Prtry'),
})

/** camt.014, ReturnMember: a participant has come, changed or gone. */
export type Camt014 = ReturnType<typeof readCamt014>
