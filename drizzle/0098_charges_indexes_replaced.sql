-- expand
DROP INDEX "pix_charges_listed";
DROP INDEX "pix_charges_by_status";
DROP INDEX "pix_charges_by_shown";