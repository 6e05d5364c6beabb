-- expand
CREATE INDEX "pix_recurrences_ending" ON "pix_recurrences" USING btree ((terms::json ->> 'endsOn')) WHERE status = 'CRIADA';